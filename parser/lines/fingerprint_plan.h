// FingerprintPlan: the tables with which a block is searched for many literals at once.
//
// Of each literal up to eight adjacent bytes that are rare in logs are its fingerprint; `anchor` is
// where they begin in it. The SIMD engines share literals among a few buckets (bucket_filter.h),
// and the plan puts those together that let few other places of a log pass. What passes is compared
// with the members whose first four bytes have the same hash (candidate_search.h), so that it costs
// the same however many literals there are. This is the "Teddy" idea of the Hyperscan regular
// expression library, with look-ups of pairs of bytes.
//
// The portable engine looks at every gram_stride-th four bytes of the block only, in a table of the
// hashes of all four bytes at the first gram_stride places of the fingerprints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "parser/lines/bucket_filter.h"
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
  // Of the engine's filter; the other's is empty.
  FilterTables<PairFilter> pairs;
  FilterTables<NibbleFilter> nibbles;
  std::size_t nibble_set_count = 0;  // of nibbles.sets, as many as have a bucket in use

  std::vector<std::string> literals;
  std::size_t anchor_max = 0;

  // Members by their slot, the hash of their first four bytes; those of shorter literals.
  static constexpr std::size_t kGramBytes = 4;
  static constexpr unsigned kSlotBits = 11;
  std::vector<Member> members;
  std::vector<Member> short_members;

  static constexpr unsigned kGramTableBits = 14;
  std::size_t gram_stride = 0;  // 0: a literal is shorter than a gram
  std::vector<std::uint8_t> gram_table;

  ScanEngine engine = ScanEngine::portable;
  std::array<std::uint16_t, (std::size_t{1} << kSlotBits) + 1> slot_begins{};  // in members
  bool holds_line_end = false;  // some literal has a '\n' or '\r'
  // By byte, where a literal is shorter than a gram: whether a fingerprint begins with it.
  std::array<bool, 256> first_bytes{};

  // `bytes`: eight, in the order of memory.
  static std::size_t slot_of(std::uint64_t bytes) {
    std::uint32_t gram = 0;
    std::memcpy(&gram, &bytes, sizeof gram);
    return hash_of(gram) >> (32 - kSlotBits);
  }
  std::span<const Member> members_like(std::uint64_t bytes) const {
    const std::size_t slot = slot_of(bytes);
    return {members.data() + slot_begins[slot], members.data() + slot_begins[slot + 1]};
  }

  static std::size_t gram_slot(std::uint32_t gram) {
    return hash_of(gram) >> (32 - kGramTableBits);
  }
  static std::uint32_t hash_of(std::uint32_t gram) { return gram * 0x9e3779b1U; }
};

// Throws std::invalid_argument where there are more than 65,535 literals.
FingerprintPlan plan_fingerprints(std::vector<std::string> literals, ScanEngine engine);

}  // namespace llmb::parser
