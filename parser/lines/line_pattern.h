// LinePattern: a line as it was once read, with its end, but for the digits of a counter in it,
// which come in any number, and others that may be any lower-case hexadecimal digit. The engines of
// pattern_engines.h tell whether another line is like it by comparing, 16 to 64 bytes at once,
// without a look for fields: for logs that say the same a million times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmb::parser {

class LinePattern {
 public:
  static constexpr std::size_t kHeadBytesMax = 128;  // before the counter
  static constexpr std::size_t kTailBytesMax = 256;  // behind it
  static constexpr std::size_t kDigitsMax = 16;
  static constexpr std::size_t kLineBytesMax = kHeadBytesMax + kDigitsMax + kTailBytesMax;
  // How many bytes an engine may read from a line's beginning on.
  static constexpr std::size_t kReach = kLineBytesMax + 64;

  // What stands in the texts instead of bytes.
  static constexpr char kAnyByte = 0;  // past the end
  static constexpr char kHexDigit = 1;

  // False, and then it matches nothing, where one of them is empty, too long, or has a byte that is
  // one of these or above 0x7f.
  bool assign(std::string_view head, std::string_view tail);

  // From now on each of the tail's bytes [begin, begin + count) may be any such digit.
  void allow_hex(std::size_t begin, std::size_t count);

  std::size_t head_size() const { return head_size_; }
  std::size_t tail_size() const { return tail_size_; }
  const char* head() const { return head_.data(); }
  const char* tail() const { return tail_.data(); }
  // Of the tail's bytes from 64 i on, a bit each: whether any digit will do.
  std::uint64_t hex_bits(std::size_t i) const { return hex_bits_[i]; }

 private:
  std::uint32_t head_size_ = 0;  // 0: matches nothing
  std::uint32_t tail_size_ = 0;
  std::array<std::uint64_t, kTailBytesMax / 64> hex_bits_{};
  alignas(16) std::array<char, kHeadBytesMax> head_;
  std::array<char, kTailBytesMax> tail_;
};

}  // namespace llmb::parser
