// What the SIMD engines look up of a fingerprint. A filter has a few look-ups; each makes a small
// number of one or two adjacent bytes, and its table says, a bit a bucket, which buckets have a
// literal with that number there. A position passes where all tables have a bucket in common.
//
// Numbers of two bytes together tell literals apart that share their letters: a bucket of forty
// phrases has nearly every letter at every place, but few of the pairs of letters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "parser/lines/fingerprint.h"

namespace llmb::parser {

// AVX-512: tables of 128 entries, for each pair of adjacent bytes.
struct PairFilter {
  static constexpr std::size_t kLookups = kFingerprintBytes - 1;
  static constexpr std::size_t kValues = 128;
  static constexpr std::size_t kBuckets = 8;
  static constexpr std::size_t first_byte(std::size_t lookup) { return lookup; }
  static constexpr std::size_t second_byte(std::size_t lookup) { return lookup + 1; }
  static constexpr std::size_t value_of(std::size_t /*lookup*/, unsigned first, unsigned second) {
    return (first ^ second << 1) & 0x7f;
  }
};

// SSSE3, AVX2, NEON: tables of 16 entries, two a byte, by its low nibble and by its high one
// together with the low one of the byte behind it. So small tables want more buckets.
struct NibbleFilter {
  static constexpr std::size_t kLookups = 2 * kFingerprintBytes;
  static constexpr std::size_t kValues = 16;
  static constexpr std::size_t kBuckets = 16;
  static constexpr std::size_t first_byte(std::size_t lookup) { return lookup / 2; }
  // The last byte has none behind it: it is taken twice.
  static constexpr std::size_t second_byte(std::size_t lookup) {
    const std::size_t behind = lookup / 2 + lookup % 2;
    return behind < kFingerprintBytes ? behind : kFingerprintBytes - 1;
  }
  static constexpr std::size_t value_of(std::size_t lookup, unsigned first, unsigned second) {
    return (lookup % 2 == 0 ? first : first >> 4 ^ second) & 0xf;
  }
};

inline constexpr std::size_t kBucketsOfTable = 8;  // a byte's bits

// Entry v of a look-up's table: the buckets, a bit each, that allow the value v there. Filters of
// more than eight buckets have several such sets of tables.
template <typename Filter>
struct FilterTables {
  using Table = std::array<std::uint8_t, Filter::kValues>;
  using Set = std::array<Table, Filter::kLookups>;
  alignas(64) std::array<Set, Filter::kBuckets / kBucketsOfTable> sets{};
};

}  // namespace llmb::parser
