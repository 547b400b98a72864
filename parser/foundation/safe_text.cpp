#include "parser/foundation/safe_text.h"

#include <cstddef>
#include <cstdint>

#include "parser/foundation/hex.h"

namespace llmb::parser {

namespace {

struct Decoded {
  std::uint32_t code_point = 0;
  std::size_t length = 0;  // 0: the bytes are no UTF-8
};

Decoded decode(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return {};
  std::uint32_t code_point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3FU);
  }
  const bool is_overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (is_overlong || is_surrogate || code_point > 0x10FFFF) return {};
  return {code_point, length};
}

// Controls, ends of lines, and marks that reorder what is shown (Unicode's Bidi_Control).
bool acts_on_a_terminal(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

std::string safe_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode(text.substr(at));
    const bool is_safe = decoded.length != 0 && !acts_on_a_terminal(decoded.code_point);
    const std::size_t length = decoded.length == 0 ? 1 : decoded.length;
    if (is_safe) {
      safe += text.substr(at, length);
    } else {
      for (const char c : text.substr(at, length)) {
        const auto byte = static_cast<unsigned char>(c);
        safe += "\\x";
        safe += kHexDigits[byte >> 4];
        safe += kHexDigits[byte & 15U];
      }
    }
    at += length;
  }
  return safe;
}

}  // namespace llmb::parser
