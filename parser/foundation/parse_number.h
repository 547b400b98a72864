// Numbers from whole texts: no blanks, no '+', nothing behind the number. What a training program
// prints in the middle of a line is read by parser/dialects/fields.h instead.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace llmb::parser {

// Nothing where the text is no number, or one that Number cannot hold. Accepts "nan" and "inf" for
// floating-point types.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Nothing also where the number is not from `min` to `max`.
inline std::optional<std::int64_t> parse_integer(
    std::string_view text, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
    std::int64_t max = std::numeric_limits<std::int64_t>::max()) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

// Digits only, no sign either, and at most 18 of them.
inline std::optional<std::int64_t> parse_digits(std::string_view text) {
  if (text.starts_with('-') || text.size() > 18) return std::nullopt;
  return parse_integer(text);
}

}  // namespace llmb::parser
