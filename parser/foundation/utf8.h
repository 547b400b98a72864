// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmb::parser {

struct Utf8Character {
  std::uint32_t code_point = 0;
  std::size_t length = 0;  // in bytes; 0: the bytes are no UTF-8
};

// The first of `bytes`, which are not empty. Neither overlong forms nor halves of surrogates are
// UTF-8.
Utf8Character first_character(std::string_view bytes);

// A byte that goes on with a character that began before it.
constexpr bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// How many bytes at the end, three at most, are the beginning of a character whose rest is missing.
std::size_t unfinished_length(std::string_view bytes);

}  // namespace llmb::parser
