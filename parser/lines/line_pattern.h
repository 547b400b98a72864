// BytePattern: a piece of text as it was once read, of which some bytes may be any lower-case
// hexadecimal digit. PatternMatcher tells whether other bytes begin with such a piece by comparing,
// 16 to 64 bytes at once, without a look for fields: for logs that say the same a million times.
//
// Thread-safe: matching changes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "parser/lines/fingerprint.h"

namespace llmb::parser {

inline constexpr std::size_t kPatternStride = 64;  // patterns are looked at in such pieces
// What stands in a pattern's text instead of bytes.
inline constexpr char kPatternHexDigit = 0;
inline constexpr char kPatternAnyByte = 1;  // past its end

// Whether no byte is one of these, or above 0x7f.
bool can_be_pattern(std::string_view text);

template <std::size_t kBytesMax>
class BytePattern {
 public:
  static_assert(kBytesMax % kPatternStride == 0);

  // False, and then it matches nothing, where `text` is empty, longer than kBytesMax, or
  // can_be_pattern() says no.
  bool assign(std::string_view text) {
    const bool fits = text.size() <= kBytesMax && can_be_pattern(text);
    size_ = fits ? text.size() : 0;
    text.copy(text_.data(), size_);
    std::fill(text_.data() + size_, text_.data() + bytes_read(), kPatternAnyByte);
    return size_ != 0;
  }

  // From now on each of its bytes [begin, begin + count) may be any such digit.
  void allow_hex(std::size_t begin, std::size_t count) {
    std::fill_n(text_.data() + begin, count, kPatternHexDigit);
  }

  const char* text() const { return text_.data(); }
  std::size_t size() const { return size_; }
  // How many bytes are looked at, those behind the piece for nothing.
  std::size_t bytes_read() const {
    return (size_ + kPatternStride - 1) / kPatternStride * kPatternStride;
  }

 private:
  std::size_t size_ = 0;
  std::array<char, kBytesMax> text_;
};

class PatternMatcher {
 public:
  // Throws std::invalid_argument where the engine is not available here; the portable one compares
  // with what every x86-64 and every aarch64 has.
  explicit PatternMatcher(ScanEngine engine = ScanEngine::best);

  // Whether `bytes`, of which pattern.bytes_read() can be read, begin with a piece like it.
  template <std::size_t kBytesMax>
  bool matches(const BytePattern<kBytesMax>& pattern, const char* bytes) const {
    return pattern.size() != 0 && compare_(pattern.text(), bytes, pattern.size());
  }

 private:
  using Compare = bool (*)(const char* text, const char* bytes, std::size_t size);
  Compare compare_;
};

}  // namespace llmb::parser
