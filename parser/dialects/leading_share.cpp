#include "parser/dialects/leading_share.h"

#include <charconv>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kDigitsMax = 12;

// Moves `text` behind it.
std::optional<std::size_t> take_number(std::string_view& text) {
  const std::size_t digits = length_of_run(text, 0, is_digit);
  if (digits == 0 || digits > kDigitsMax) return std::nullopt;
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

std::size_t blanks_before(std::string_view text) {
  return length_of_run(text, 0, [](char c) { return c == ' '; });
}

// "/", " / " or " of ".
bool take_sign(std::string_view& text) {
  const std::size_t blanks = blanks_before(text);
  text.remove_prefix(blanks);
  const bool is_slash = text.starts_with('/');
  if (!is_slash && (blanks == 0 || !text.starts_with("of "))) return false;
  text.remove_prefix(is_slash ? 1 : 3);
  text.remove_prefix(blanks_before(text));
  return true;
}

// "/2025", "-11", ".5"; not the full stop of a sentence.
bool goes_on_as_a_part(std::string_view behind) {
  if (behind.starts_with('.')) return behind.size() > 1 && is_digit(behind[1]);
  return behind.starts_with('/') || behind.starts_with('-');
}

}  // namespace

std::optional<Share> leading_share(std::string_view text) {
  const auto part = take_number(text);
  if (!part || !take_sign(text)) return std::nullopt;
  const auto whole = take_number(text);
  if (!whole || goes_on_as_a_part(text)) return std::nullopt;
  return Share{*part, *whole};
}

}  // namespace llmb::parser
