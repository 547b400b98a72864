#include "parser/lines/bucket_load.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace llmb::parser {

namespace {

using Positions = BucketLoad::Positions;
constexpr double kTextBytes{kTypicalLogText.size()};
constexpr double kSeldom = 0.5;  // of bytes that the page lacks: once in two pages

std::uint8_t byte_of(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// What is to be known of the typical text, by nibble, byte and pair.
struct TextIndex {
  // By the fingerprint's byte k and the nibble there: where such a fingerprint may begin.
  std::array<std::array<Positions, 16>, kFingerprintBytes> low{};
  std::array<std::array<Positions, 16>, kFingerprintBytes> high{};
  std::array<double, 256> byte_rates{};
  // By high nibble, half, and eight bits of low nibbles: the sum of their bytes' rates.
  std::array<std::array<std::array<float, 256>, 2>, 16> half_row_rates{};
  std::array<std::array<std::uint8_t, 256>, 256> pair_counts{};

  TextIndex() {
    for (std::size_t at = 0; at < kTypicalLogText.size(); ++at) {
      const std::uint8_t byte = byte_of(kTypicalLogText, at);
      for (std::size_t k = 0; k < kFingerprintBytes && k <= at; ++k) {
        const std::uint64_t bit = std::uint64_t{1} << ((at - k) % 64);
        low[k][byte & 0xf][(at - k) / 64] |= bit;
        high[k][byte >> 4][(at - k) / 64] |= bit;
      }
      byte_rates[byte] += 1;
      if (at > 0) {
        std::uint8_t& count = pair_counts[byte_of(kTypicalLogText, at - 1)][byte];
        if (count < 255) ++count;
      }
    }
    for (double& rate : byte_rates) rate = std::max(rate, kSeldom) / kTextBytes;
    for (std::size_t row = 0; row < 16; ++row) {
      for (std::size_t half = 0; half < 2; ++half) sum_up(row, half);
    }
  }

  void sum_up(std::size_t row, std::size_t half) {
    std::array<float, 256>& sums = half_row_rates[row][half];
    for (unsigned nibbles = 1; nibbles < 256; ++nibbles) {
      const auto lowest = static_cast<std::size_t>(std::countr_zero(nibbles));
      const auto rate = static_cast<float>(byte_rates[row * 16 + half * 8 + lowest]);
      sums[nibbles] = sums[nibbles & (nibbles - 1)] + rate;
    }
  }

  double rate_of(unsigned low_nibbles, unsigned high_nibbles) const {
    float sum = 0;
    for (unsigned highs = high_nibbles; highs != 0; highs &= highs - 1) {
      const auto& row = half_row_rates[static_cast<std::size_t>(std::countr_zero(highs))];
      sum += row[0][low_nibbles & 0xff] + row[1][low_nibbles >> 8];
    }
    return std::min(1.0F, sum);
  }
};

const TextIndex& text_index() {
  static const auto index = std::make_unique<const TextIndex>();
  return *index;
}

std::uint16_t bit_of(unsigned nibble) {
  return static_cast<std::uint16_t>(1U << nibble);
}

}  // namespace

void BucketLoad::add(std::string_view literal, std::size_t anchor) {
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    ByteSet& set = bytes_[k];
    if (anchor + k >= literal.size()) {  // past the literal's end any byte may stand
      set.low_nibbles = set.high_nibbles = 0xffff;
      set.low_positions.fill(~std::uint64_t{0});
      set.high_positions.fill(~std::uint64_t{0});
      continue;
    }
    const std::uint8_t byte = byte_of(literal, anchor + k);
    set.low_nibbles = static_cast<std::uint16_t>(set.low_nibbles | bit_of(byte & 0xf));
    set.high_nibbles = static_cast<std::uint16_t>(set.high_nibbles | bit_of(byte >> 4));
    const Positions& low = text_index().low[k][byte & 0xf];
    const Positions& high = text_index().high[k][byte >> 4];
    for (std::size_t word = 0; word < kWords; ++word) {
      set.low_positions[word] |= low[word];
      set.high_positions[word] |= high[word];
    }
  }
}

double BucketLoad::pass_rate_with(std::string_view literal, std::size_t anchor,
                                  double limit) const {
  const TextIndex& text = text_index();
  const std::size_t length = std::min(kFingerprintBytes, literal.size() - anchor);
  double rate_of_independent_bytes = 1;
  for (std::size_t k = 0; k < length; ++k) {
    const std::uint8_t byte = byte_of(literal, anchor + k);
    const ByteSet& set = bytes_[k];
    rate_of_independent_bytes *= text.rate_of(set.low_nibbles | unsigned{bit_of(byte & 0xf)},
                                              set.high_nibbles | unsigned{bit_of(byte >> 4)});
  }
  if (rate_of_independent_bytes >= limit) return rate_of_independent_bytes;
  Positions passed;
  passed.fill(~std::uint64_t{0});
  for (std::size_t k = 0; k < length; ++k) {
    const std::uint8_t byte = byte_of(literal, anchor + k);
    const ByteSet& set = bytes_[k];
    const Positions& low = text.low[k][byte & 0xf];
    const Positions& high = text.high[k][byte >> 4];
    for (std::size_t word = 0; word < kWords; ++word) {
      passed[word] &=
          (set.low_positions[word] | low[word]) & (set.high_positions[word] | high[word]);
    }
  }
  std::size_t count = 0;
  for (const std::uint64_t word : passed) {
    if (word != 0) count += static_cast<std::size_t>(std::popcount(word));
  }
  return static_cast<double>(count) / kTextBytes + rate_of_independent_bytes;
}

double likelihood_in_log(std::string_view bytes) {
  constexpr double kOfBytes = 4;  // what the bytes' own rates count beside the pairs
  const TextIndex& text = text_index();
  double likelihood = text.byte_rates[byte_of(bytes, 0)];
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    const std::uint8_t before = byte_of(bytes, at - 1);
    const double rate = text.byte_rates[byte_of(bytes, at)];
    likelihood *= (text.pair_counts[before][byte_of(bytes, at)] + kOfBytes * rate) /
                  (text.byte_rates[before] * kTextBytes + kOfBytes);
  }
  return likelihood;
}

}  // namespace llmb::parser
