// BucketLoad: how many positions of a training log will pass the nibble tables of a bucket. Serves
// plan_fingerprints() only: it decides speed, never results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/lines/fingerprint.h"
#include "parser/lines/typical_log_text.h"

namespace llmb::parser {

class BucketLoad {
 public:
  // Lets the fingerprint of `literal` at `anchor` pass, and all that shares nibbles with it.
  void add(std::string_view literal, std::size_t anchor);

  // The share of positions that pass with one more member: counted in a page of typical text, plus
  // what is to be expected of text that the page lacks, were a log's bytes independent. Where the
  // latter alone reaches `limit`, only that.
  double pass_rate_with(std::string_view literal, std::size_t anchor, double limit) const;

  // Positions of the typical text: bit i of word w is position 64 w + i.
  static constexpr std::size_t kWords = (kTypicalLogText.size() + 63) / 64;
  using Positions = std::array<std::uint64_t, kWords>;

 private:
  // Of one byte of the fingerprint: the nibbles that may stand there (bit n: nibble n), and the
  // positions of the typical text at which a fingerprint with such a nibble there may begin.
  struct ByteSet {
    std::uint16_t low_nibbles = 0;
    std::uint16_t high_nibbles = 0;
    Positions low_positions{};
    Positions high_positions{};
  };

  std::array<ByteSet, kFingerprintBytes> bytes_;
};

// How likely a log holds these bytes, by the pairs of adjacent bytes of the typical text: to
// compare places for a fingerprint at little cost.
double likelihood_in_log(std::string_view bytes);

}  // namespace llmb::parser
