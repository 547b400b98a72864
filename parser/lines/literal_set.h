// LiteralSet: some of a scanner's literals, a bit each.
#pragma once

#include <algorithm>
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

 private:
  static constexpr std::size_t kWordBits = 64;
  std::vector<std::uint64_t> words_;
};

}  // namespace llmb::parser
