// RunCopies: logs with the same bytes are one run, wherever they lie (a copy, a folder that was
// moved, a tree that two roots hold). The first of them that counts does, and the others are its
// copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace llmb::parser {

class RunCopies {
 public:
  // `run` counts, unless one of its content does already: that one then. `content_key` as in
  // ComparedRun; it has to outlive this.
  std::optional<std::size_t> count(std::string_view content_key, std::size_t run);
  // Which other run counts for this content; nothing: none.
  std::optional<std::size_t> counted_for(std::string_view content_key, std::size_t run) const;

 private:
  std::unordered_map<std::string_view, std::size_t> counted_;
};

// What is said of a copy of the run with this id.
std::string copy_reason(std::int64_t id);

}  // namespace llmb::parser
