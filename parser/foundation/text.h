// What is asked of text again and again: its ends without blanks, its pieces, runs of bytes, a word
// or one of several, letters in lower case. ASCII only, and independent of the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (static_cast<unsigned char>(c) | 0x20U) - 'a' < 26U;
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// What names of hosts, files and jobs are made of.
constexpr bool is_name_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

// How many of the bytes from `at` on satisfy `accept`.
template <typename Accept>
constexpr std::size_t length_of_run(std::string_view text, std::size_t at, Accept accept) {
  std::size_t end = std::min(at, text.size());
  const std::size_t begin = end;
  while (end < text.size() && accept(text[end])) ++end;
  return end - begin;
}

constexpr bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text);

bool equal_but_for_case(std::string_view left, std::string_view right);

bool holds_one_of(std::string_view text, std::span<const std::string_view> words);

// Without `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

// The pieces between the separators; of an empty text one, which is empty.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace llmb::parser
