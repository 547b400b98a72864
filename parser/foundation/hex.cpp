#include "parser/foundation/hex.h"

namespace llmb::parser {

std::string hex_text(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kHexDigits[byte >> 4U];
    text += kHexDigits[byte & 15U];
  }
  return text;
}

std::string hex_text(std::uint64_t number) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i-- > 0; number >>= 4U) digits[i] = kHexDigits[number & 15U];
  return digits;
}

}  // namespace llmb::parser
