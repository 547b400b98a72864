// RunCopies: logs with the same bytes are one run, wherever they lie (a copy, a folder that was
// moved, a tree that two roots hold), and whatever window they are judged over. The first of them
// that counts does, in counting_order(), and the others are its copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace llmb::parser {

// Two logs have the same bytes where one of their keys is equal. What is not known is empty.
struct ContentKey {
  std::string by_bytes;
  // By the times of its window, for what another store told of the log.
  std::string by_times;

  bool operator==(const ContentKey&) const = default;
};

class RunCopies {
 public:
  // `run` counts, unless one of its content does already: that one then. `key` has to outlive this.
  std::optional<std::size_t> count(const ContentKey& key, std::size_t run);
  // Which other run counts for this content; nothing: none.
  std::optional<std::size_t> counted_for(const ContentKey& key, std::size_t run) const;

 private:
  std::optional<std::size_t> find(const ContentKey& key) const;

  std::unordered_map<std::string_view, std::size_t> by_bytes_;
  std::unordered_map<std::string_view, std::size_t> by_times_;
};

// Indexes of runs in the order in which they are to be counted, by how much each says of itself
// (stated_count() of its identity): a log that was copied to where nothing tells what it is of does
// not count for the one that says so. Those that say as much keep their order.
std::vector<std::size_t> counting_order(std::span<const std::size_t> stated_counts);

// What is said of a copy of the run with this id.
std::string copy_reason(std::int64_t id);

}  // namespace llmb::parser
