// NEON, which every aarch64 has: the table look-ups of scan_x86.cpp's AVX2, for 16 positions.
#include "parser/lines/scan_engines.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <array>

namespace llmb::parser {

bool has_neon() {
  return true;
}

namespace {

constexpr std::size_t kWidth = 16;

using NibbleSet = FilterTables<NibbleFilter>::Set;

// The buckets of the set whose k-th fingerprint bytes may be those of 16 positions.
inline uint8x16_t look_up(const NibbleSet& set, std::size_t k, uint8x16_t low, uint8x16_t high) {
  return vandq_u8(vqtbl1q_u8(vld1q_u8(set[2 * k].data()), low),
                  vqtbl1q_u8(vld1q_u8(set[2 * k + 1].data()), high));
}

// Of `kSets` sets of buckets those by all bytes of the 16 positions from `bytes` on; reads
// kFingerprintBytes - 1 bytes past them.
template <std::size_t kSets>
inline uint8x16_t buckets_of_16(const std::array<NibbleSet, 2>& sets, const std::uint8_t* bytes) {
  const uint8x16_t nibble = vdupq_n_u8(0x0f);
  uint8x16_t first = vdupq_n_u8(0xff);
  uint8x16_t second = vdupq_n_u8(kSets == 2 ? 0xff : 0);
  uint8x16_t block = vld1q_u8(bytes);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const uint8x16_t behind = k + 1 < kFingerprintBytes ? vld1q_u8(bytes + k + 1) : block;
    const uint8x16_t low = vandq_u8(block, nibble);
    const uint8x16_t high = vandq_u8(veorq_u8(vshrq_n_u8(block, 4), behind), nibble);
    first = vandq_u8(first, look_up(sets[0], k, low, high));
    if (kSets == 2) second = vandq_u8(second, look_up(sets[1], k, low, high));
    block = behind;
  }
  return vorrq_u8(first, second);
}

void check_16(CandidateSearch& search, std::size_t at, uint8x16_t buckets) {
  std::array<std::uint8_t, kWidth> bucket_bits;
  vst1q_u8(bucket_bits.data(), buckets);
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    if (bucket_bits[lane] != 0) search.check(at + lane);
  }
}

template <std::size_t kSets>
void scan_by_16(CandidateSearch& search) {
  constexpr std::size_t kTwice = 2 * kWidth;
  const auto& sets = search.plan().nibbles.sets;
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t size = search.size();
  std::size_t at = search.from();
  while (at < search.end() && size - at >= kTwice + kFingerprintBytes - 1) {
    const uint8x16_t first = buckets_of_16<kSets>(sets, bytes + at);
    const uint8x16_t second = buckets_of_16<kSets>(sets, bytes + at + kWidth);
    if (vmaxvq_u8(vorrq_u8(first, second)) != 0) {
      check_16(search, at, first);
      check_16(search, at + kWidth, second);
    }
    at += kTwice;
  }
  search.check_rest(at);
}

}  // namespace

void scan_neon(CandidateSearch& search) {
  search.plan().nibble_set_count == 1 ? scan_by_16<1>(search) : scan_by_16<2>(search);
}

}  // namespace llmb::parser

#else

namespace llmb::parser {
bool has_neon() {
  return false;
}
void scan_neon(CandidateSearch& search) {
  scan_portable(search);
}
}  // namespace llmb::parser

#endif
