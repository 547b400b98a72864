// FingerprintPlan: the tables with which a block is searched for many literals at once.
//
// Of each literal up to eight adjacent bytes that are rare in logs are its fingerprint; `anchor` is
// where they begin in it. Literals share eight buckets. For each byte of the fingerprint a table
// says, one bit a bucket, which buckets a byte value may belong to; where the tables' answers for
// adjacent bytes of the block have a bucket in common, fingerprints and then the literals are
// compared (candidate_search.h): of whole fingerprints only those with the same hash as the block's
// bytes, so that a place that passes costs the same however many literals share its bucket. The
// SIMD engines split each table in two by nibbles, since sixteen entries fit a register: they let
// more bytes pass, and the plan puts literals together so that few do. This is the "Teddy" idea of
// the Hyperscan regular expression library.
//
// The portable engine looks at every gram_stride-th four bytes of the block only, in a table of the
// hashes of all four bytes at the first gram_stride places of the fingerprints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parser/lines/fingerprint.h"

namespace llmb::parser {

struct FingerprintPlan {
  struct Member {
    // The fingerprint as eight bytes in the order of memory; the mask is 0 past its end.
    std::uint64_t bytes = 0;
    std::uint64_t mask = 0;
    std::uint32_t literal = 0;  // index into literals
    std::uint32_t anchor = 0;   // fingerprint's place in the literal
  };
  using ByteTable = std::array<std::uint8_t, 256>;
  using NibbleTable = std::array<std::uint8_t, 16>;

  std::vector<std::string> literals;
  bool holds_line_end = false;  // some literal has a '\n' or '\r'
  std::size_t anchor_max = 0;

  // Members with a fingerprint of all eight bytes, by their slot, and where each slot begins.
  static constexpr unsigned kSlotBits = 10;
  std::vector<Member> whole_members;
  std::array<std::uint32_t, (std::size_t{1} << kSlotBits) + 1> slot_begins{};
  // Those with a shorter one, by bucket, and the buckets that have any (a bit each).
  std::array<std::vector<Member>, kBuckets> short_members;
  unsigned short_buckets = 0;

  // Bit b of the entry: a member of bucket b has (or, being shorter, allows) this byte there.
  std::array<ByteTable, kFingerprintBytes> byte_tables{};
  // The same by nibble: a byte may pass where both its nibbles' entries have the bit.
  std::array<NibbleTable, kFingerprintBytes> low_nibble_tables{};
  std::array<NibbleTable, kFingerprintBytes> high_nibble_tables{};

  static constexpr std::size_t kGramBytes = 4;
  static constexpr unsigned kGramTableBits = 14;
  std::size_t gram_stride = 0;  // 0: a literal is shorter than a gram
  std::vector<std::uint8_t> gram_table;

  static std::size_t slot_of(std::uint64_t bytes) {
    return (bytes * 0x9e3779b97f4a7c15U) >> (64 - kSlotBits);
  }
  std::span<const Member> whole_members_like(std::uint64_t bytes) const {
    const std::size_t slot = slot_of(bytes);
    return {whole_members.data() + slot_begins[slot], whole_members.data() + slot_begins[slot + 1]};
  }

  static std::size_t gram_slot(std::uint32_t gram) {
    return (gram * 0x9e3779b1U) >> (32 - kGramTableBits);
  }

  ScanEngine engine = ScanEngine::portable;
};

FingerprintPlan plan_fingerprints(std::vector<std::string> literals);

}  // namespace llmb::parser
