// plural(): "1 step", "2 steps".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace llmb::parser {

inline std::string plural(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace llmb::parser
