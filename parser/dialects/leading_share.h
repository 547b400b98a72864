// "600/600", "4 of 10": how far something has come that is counted.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace llmb::parser {

struct Share {
  std::size_t part = 0;
  std::size_t whole = 0;
};

// With which `text` begins. Nothing where it begins otherwise, or goes on as a date, a path or a
// number with decimals does.
std::optional<Share> leading_share(std::string_view text);

}  // namespace llmb::parser
