// FingerprintPlan: the tables with which a block is searched for many literals at once.
//
// Of each literal a few adjacent bytes that are rare in logs are its fingerprint; `anchor` is where
// they begin in it. Literals share eight buckets. For each byte of the fingerprint a table says,
// one bit a bucket, which buckets a byte value may belong to; where the tables' answers for
// adjacent bytes of the block have a bucket in common, its literals are compared (candidate.h).
// The SIMD engines split each table in two by nibbles, since sixteen entries fit a register: they
// let more bytes pass, and the plan puts literals together so that few do. This is the "Teddy"
// idea of the Hyperscan regular expression library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parser/lines/literal_scanner.h"

namespace llmb::parser {

inline constexpr std::size_t kFingerprintBytes = 4;
inline constexpr std::size_t kBuckets = 8;

struct FingerprintPlan {
  struct Member {
    std::uint32_t literal = 0;  // index into literals
    std::uint32_t anchor = 0;   // fingerprint's place in the literal
  };
  using ByteTable = std::array<std::uint8_t, 256>;
  using NibbleTable = std::array<std::uint8_t, 16>;

  std::vector<std::string> literals;
  std::array<std::vector<Member>, kBuckets> buckets;
  std::size_t anchor_max = 0;

  // Bit b of the entry: a member of bucket b has (or, being shorter, allows) this byte there.
  std::array<ByteTable, kFingerprintBytes> byte_tables{};
  // The same by nibble: a byte may pass where both its nibbles' entries have the bit.
  std::array<NibbleTable, kFingerprintBytes> low_nibble_tables{};
  std::array<NibbleTable, kFingerprintBytes> high_nibble_tables{};

  // The first two bytes of each distinct fingerprint, for engines without a table look-up.
  struct BytePair {
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    bool any_second = false;  // of a literal of one byte

    bool operator==(const BytePair&) const = default;
  };
  std::vector<BytePair> pairs;

  LiteralScanner::Engine engine = LiteralScanner::Engine::portable;
};

FingerprintPlan plan_fingerprints(std::vector<std::string> literals);

}  // namespace llmb::parser
