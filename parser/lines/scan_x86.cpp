// SSE2, which every x86-64 has, compares with each fingerprint's first two bytes; AVX2, chosen at
// run time, looks all buckets up at once: two shuffles a fingerprint byte, for 32 positions.
#include "parser/lines/scan_engines.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>

namespace llmb::parser {

bool has_sse2() {
  return true;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}

void scan_sse2(CandidateSearch& search) {
  constexpr std::size_t kWidth = 16;
  const auto& pairs = search.plan().pairs;
  std::size_t at = search.from();
  while (at < search.end() && search.size() - at > kWidth) {
    const auto* const here = reinterpret_cast<const __m128i*>(search.bytes() + at);
    const auto* const next = reinterpret_cast<const __m128i*>(search.bytes() + at + 1);
    const __m128i first = _mm_loadu_si128(here);
    const __m128i second = _mm_loadu_si128(next);
    __m128i any = _mm_setzero_si128();
    for (const FingerprintPlan::BytePair& pair : pairs) {
      __m128i equal = _mm_cmpeq_epi8(first, _mm_set1_epi8(static_cast<char>(pair.first)));
      if (!pair.any_second) {
        const __m128i wanted = _mm_set1_epi8(static_cast<char>(pair.second));
        equal = _mm_and_si128(equal, _mm_cmpeq_epi8(second, wanted));
      }
      any = _mm_or_si128(any, equal);
    }
    for (auto bits = static_cast<unsigned>(_mm_movemask_epi8(any)); bits != 0; bits &= bits - 1) {
      const std::size_t position = at + static_cast<std::size_t>(std::countr_zero(bits));
      search.check(position, search.buckets_at(position));
    }
    at += kWidth;
  }
  search.check_rest(at);
}

namespace {

constexpr std::size_t kAvx2Width = 32;

struct Avx2Tables {
  __m256i low[kFingerprintBytes];
  __m256i high[kFingerprintBytes];
};

__attribute__((target("avx2"))) inline __m256i load_table(
    const FingerprintPlan::NibbleTable& table) {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

// The buckets of the 32 positions from `bytes` on; reads kFingerprintBytes - 1 bytes more.
__attribute__((target("avx2"))) inline __m256i buckets_of_32(const Avx2Tables& tables,
                                                             const std::uint8_t* bytes) {
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  __m256i buckets = _mm256_set1_epi8(-1);
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + k));
    const __m256i low = _mm256_and_si256(block, nibble);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(block, 4), nibble);
    buckets = _mm256_and_si256(buckets, _mm256_shuffle_epi8(tables.low[k], low));
    buckets = _mm256_and_si256(buckets, _mm256_shuffle_epi8(tables.high[k], high));
  }
  return buckets;
}

__attribute__((target("avx2"), noinline)) void check_32(CandidateSearch& search, std::size_t at,
                                                        __m256i buckets) {
  alignas(32) std::array<std::uint8_t, kAvx2Width> bucket_bits;
  _mm256_store_si256(reinterpret_cast<__m256i*>(bucket_bits.data()), buckets);
  const __m256i none = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
  auto bits = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
  for (; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(bits));
    search.check(at + lane, bucket_bits[lane]);
  }
}

}  // namespace

__attribute__((target("avx2"))) void scan_avx2(CandidateSearch& search) {
  constexpr std::size_t kStride = 2 * kAvx2Width;
  const FingerprintPlan& plan = search.plan();
  Avx2Tables tables;
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    tables.low[k] = load_table(plan.low_nibble_tables[k]);
    tables.high[k] = load_table(plan.high_nibble_tables[k]);
  }
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t size = search.size();
  std::size_t at = search.from();
  while (at < search.end() && size - at >= kStride + kFingerprintBytes - 1) {
    const __m256i first = buckets_of_32(tables, bytes + at);
    const __m256i second = buckets_of_32(tables, bytes + at + kAvx2Width);
    const __m256i any = _mm256_or_si256(first, second);
    if (_mm256_testz_si256(any, any) == 0) {
      check_32(search, at, first);
      check_32(search, at + kAvx2Width, second);
    }
    at += kStride;
  }
  search.check_rest(at);
}

}  // namespace llmb::parser

#else

namespace llmb::parser {
bool has_sse2() {
  return false;
}
bool has_avx2() {
  return false;
}
void scan_sse2(CandidateSearch& search) {
  scan_portable(search);
}
void scan_avx2(CandidateSearch& search) {
  scan_portable(search);
}
}  // namespace llmb::parser

#endif
