#include "parser/foundation/utf8.h"

namespace llmb::parser {

Utf8Character first_character(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return {};
  std::uint32_t code_point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation_byte(bytes[i])) return {};
    code_point = code_point << 6 | (byte(i) & 0x3FU);
  }
  const bool is_overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (is_overlong || is_surrogate || code_point > 0x10FFFF) return {};
  return {code_point, length};
}

std::size_t unfinished_length(std::string_view bytes) {
  for (std::size_t length = 1; length <= 3 && length <= bytes.size(); ++length) {
    const char c = bytes[bytes.size() - length];
    if (is_continuation_byte(c)) continue;
    const auto first = static_cast<unsigned char>(c);
    if (first < 0xC2 || first > 0xF4) return 0;
    const std::size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    return length < whole ? length : 0;
  }
  return 0;
}

}  // namespace llmb::parser
