// StampShape: a stamp with which lines begin, but for its digits. Tells by comparing bytes whether
// another line begins with one of the same form; for logs that stamp a million lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace llmb::parser {

class StampShape {
 public:
  static constexpr std::size_t kBytesMax = 48;

  StampShape() = default;
  // `stamp`: as stamp_length() has it. One that is longer than kBytesMax is none.
  explicit StampShape(std::string_view stamp);
  bool operator==(const StampShape&) const = default;

  std::size_t size() const { return size_; }

  // May read kBytesMax of `bytes`.
  bool is_like(const char* bytes) const {
    Bytes all = ~Bytes{};
    for (std::size_t at = 0; at < size_; at += sizeof(Bytes)) {
      const Bytes byte = bytes_at(bytes + at);
      const Bytes expected = bytes_at(text_.data() + at);
      const Bytes is_digit = (byte > '0' - 1) & (byte < '9' + 1);
      all &= (expected == kAnyByte) | (expected == byte) | ((expected == kDigit) & is_digit);
    }
    std::uint64_t halves[2];
    std::memcpy(halves, &all, sizeof all);
    return (halves[0] & halves[1]) == ~std::uint64_t{0};
  }

 private:
  using Bytes = signed char __attribute__((vector_size(16)));
  // What stands in the text instead of bytes. No stamp has them.
  static constexpr char kAnyByte = 0;  // past the end
  static constexpr char kDigit = 1;

  static Bytes bytes_at(const char* from) {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
  }

  std::array<char, kBytesMax> text_{};
  std::size_t size_ = 0;
};

}  // namespace llmb::parser
