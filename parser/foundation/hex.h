// Hexadecimal digits: of one digit, of a number, of bytes. Written in lower case, read in both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace llmb::parser {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// 0 to 15; -1 where `c` is no hexadecimal digit.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Two digits a byte.
std::string hex_text(std::span<const unsigned char> bytes);

// Always 16 digits, the highest first.
std::string hex_text(std::uint64_t number);

}  // namespace llmb::parser
