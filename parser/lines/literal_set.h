// LiteralSet: some of a scanner's literals, a bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmb::parser {

class LiteralSet {
 public:
  LiteralSet() = default;
  explicit LiteralSet(std::size_t literal_count)
      : words_((literal_count + kWordBits - 1) / kWordBits) {}

  void add(std::size_t literal) {
    words_[literal / kWordBits] |= std::uint64_t{1} << (literal % kWordBits);
  }
  bool contains(std::size_t literal) const {
    return (words_[literal / kWordBits] >> (literal % kWordBits) & 1U) != 0;
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  // Both are of one scanner.
  bool intersects(const LiteralSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) common |= words_[i] & other.words_[i];
    return common != 0;
  }

  // Calls on_literal(std::size_t) for each that both hold, in rising order.
  template <typename OnLiteral>
  void for_each_common(const LiteralSet& other, OnLiteral on_literal) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t common = words_[i] & other.words_[i]; common != 0; common &= common - 1) {
        on_literal(i * kWordBits + static_cast<std::size_t>(std::countr_zero(common)));
      }
    }
  }

 private:
  static constexpr std::size_t kWordBits = 64;
  std::vector<std::uint64_t> words_;
};

}  // namespace llmb::parser
