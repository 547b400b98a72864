#include "parser/foundation/safe_text.h"

#include <cstddef>
#include <cstdint>

#include "parser/foundation/hex.h"
#include "parser/foundation/utf8.h"

namespace llmb::parser {

namespace {

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
    const Utf8Character decoded = first_character(text.substr(at));
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
