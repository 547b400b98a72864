#include "parser/lines/bucket_load.h"

#include <algorithm>
#include <bit>

namespace llmb::parser {

namespace {

using Positions = BucketLoad::Positions;
constexpr std::size_t kWords = BucketLoad::kWords;
constexpr double kTextBytes{kTypicalLogText.size()};

// Where each nibble stands in the typical text, and how often each byte.
struct TextIndex {
  std::array<Positions, 16> low{};
  std::array<Positions, 16> high{};
  Positions everywhere{};
  std::array<double, 256> byte_rates{};

  TextIndex() {
    for (std::size_t at = 0; at < kTypicalLogText.size(); ++at) {
      const auto byte = static_cast<std::uint8_t>(kTypicalLogText[at]);
      const std::uint64_t bit = std::uint64_t{1} << (at % 64);
      low[byte & 0xf][at / 64] |= bit;
      high[byte >> 4][at / 64] |= bit;
      everywhere[at / 64] |= bit;
      byte_rates[byte] += 1;
    }
    constexpr double kSeldom = 0.5;  // of bytes that the page lacks: once in two pages
    for (double& rate : byte_rates) rate = std::max(rate, kSeldom) / kTextBytes;
  }
};

const TextIndex& text_index() {
  static const TextIndex index;
  return index;
}

// One byte of a member's fingerprint. Past the literal's end any byte may stand.
struct MemberByte {
  std::uint16_t low_nibbles = 0xffff;
  std::uint16_t high_nibbles = 0xffff;
  const Positions* low_positions = &text_index().everywhere;
  const Positions* high_positions = &text_index().everywhere;

  MemberByte() = default;
  MemberByte(std::string_view literal, std::size_t at) {
    if (at >= literal.size()) return;
    const auto byte = static_cast<std::uint8_t>(literal[at]);
    low_nibbles = static_cast<std::uint16_t>(1U << (byte & 0xf));
    high_nibbles = static_cast<std::uint16_t>(1U << (byte >> 4));
    low_positions = &text_index().low[byte & 0xf];
    high_positions = &text_index().high[byte >> 4];
  }
};

double byte_rate(unsigned low_nibbles, unsigned high_nibbles) {
  double sum = 0;
  for (unsigned highs = high_nibbles; highs != 0; highs &= highs - 1) {
    const auto row = static_cast<std::size_t>(std::countr_zero(highs)) * 16;
    for (unsigned lows = low_nibbles; lows != 0; lows &= lows - 1) {
      sum += text_index().byte_rates[row + static_cast<std::size_t>(std::countr_zero(lows))];
    }
  }
  return std::min(1.0, sum);
}

// Of `here`, the positions after which, k further on, one of `later` comes.
void keep_those_before(Positions& here, const Positions& later, std::size_t k) {
  for (std::size_t word = 0; word < kWords; ++word) {
    const std::uint64_t next = word + 1 < kWords ? later[word + 1] : 0;
    here[word] &= k == 0 ? later[word] : later[word] >> k | next << (64 - k);
  }
}

}  // namespace

void BucketLoad::add(std::string_view literal, std::size_t anchor) {
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const MemberByte member(literal, anchor + k);
    ByteSet& set = bytes_[k];
    set.low_nibbles = static_cast<std::uint16_t>(set.low_nibbles | member.low_nibbles);
    set.high_nibbles = static_cast<std::uint16_t>(set.high_nibbles | member.high_nibbles);
    for (std::size_t word = 0; word < kWords; ++word) {
      set.low_positions[word] |= (*member.low_positions)[word];
      set.high_positions[word] |= (*member.high_positions)[word];
    }
  }
  ++members_;
}

double BucketLoad::pass_rate_with(std::string_view literal, std::size_t anchor) const {
  Positions passed = text_index().everywhere;
  double rate_of_independent_bytes = 1;
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const MemberByte member(literal, anchor + k);
    const ByteSet& set = bytes_[k];
    Positions positions;
    for (std::size_t word = 0; word < kWords; ++word) {
      positions[word] = (set.low_positions[word] | (*member.low_positions)[word]) &
                        (set.high_positions[word] | (*member.high_positions)[word]);
    }
    keep_those_before(passed, positions, k);
    rate_of_independent_bytes *=
        byte_rate(set.low_nibbles | member.low_nibbles, set.high_nibbles | member.high_nibbles);
  }
  int count = 0;
  for (const std::uint64_t word : passed) count += std::popcount(word);
  return count / kTextBytes + rate_of_independent_bytes;
}

}  // namespace llmb::parser
