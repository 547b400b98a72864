// NEON, which every aarch64 has: the table look-up of scan_x86.cpp's AVX2, for 16 positions.
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

struct NeonTables {
  uint8x16_t low[kFingerprintBytes];
  uint8x16_t high[kFingerprintBytes];
};

// The buckets whose k-th fingerprint bytes may be those of the 16 positions from `bytes` on.
inline uint8x16_t buckets_by_byte(const NeonTables& tables, std::size_t k,
                                  const std::uint8_t* bytes) {
  const uint8x16_t block = vld1q_u8(bytes + k);
  return vandq_u8(vqtbl1q_u8(tables.low[k], vandq_u8(block, vdupq_n_u8(0x0f))),
                  vqtbl1q_u8(tables.high[k], vshrq_n_u8(block, 4)));
}

// By all their bytes; reads kFingerprintBytes - 1 bytes past the 16.
inline uint8x16_t buckets_of_16(const NeonTables& tables, const std::uint8_t* bytes) {
  static_assert(kFingerprintBytes == 8);
  uint8x16_t buckets = buckets_by_byte(tables, 0, bytes);
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 1, bytes));
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 2, bytes));
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 3, bytes));
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 4, bytes));
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 5, bytes));
  buckets = vandq_u8(buckets, buckets_by_byte(tables, 6, bytes));
  return vandq_u8(buckets, buckets_by_byte(tables, 7, bytes));
}

void check_16(CandidateSearch& search, std::size_t at, uint8x16_t buckets) {
  std::array<std::uint8_t, kWidth> bucket_bits;
  vst1q_u8(bucket_bits.data(), buckets);
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    if (bucket_bits[lane] != 0) search.check(at + lane, bucket_bits[lane]);
  }
}

}  // namespace

void scan_neon(CandidateSearch& search) {
  constexpr std::size_t kStride = 2 * kWidth;
  const FingerprintPlan& plan = search.plan();
  NeonTables tables;
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    tables.low[k] = vld1q_u8(plan.low_nibble_tables[k].data());
    tables.high[k] = vld1q_u8(plan.high_nibble_tables[k].data());
  }
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t size = search.size();
  std::size_t at = search.from();
  while (at < search.end() && size - at >= kStride + kFingerprintBytes - 1) {
    const uint8x16_t first = buckets_of_16(tables, bytes + at);
    const uint8x16_t second = buckets_of_16(tables, bytes + at + kWidth);
    if (vmaxvq_u8(vorrq_u8(first, second)) != 0) {
      check_16(search, at, first);
      check_16(search, at + kWidth, second);
    }
    at += kStride;
  }
  search.check_rest(at);
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
