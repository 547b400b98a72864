// A count for people: "21,000".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace llmb::parser {

inline std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace llmb::parser
