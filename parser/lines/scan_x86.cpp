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
  constexpr std::size_t kPairsMax = 12;  // with more, the tables are faster
  const auto& pairs = search.plan().pairs;
  if (pairs.size() > kPairsMax) return scan_portable(search);

  __m128i firsts[kPairsMax];
  __m128i seconds[kPairsMax];
  __m128i any_second[kPairsMax];
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    firsts[index] = _mm_set1_epi8(static_cast<char>(pairs[index].first));
    seconds[index] = _mm_set1_epi8(static_cast<char>(pairs[index].second));
    any_second[index] = _mm_set1_epi8(pairs[index].any_second ? -1 : 0);
  }
  std::size_t at = search.from();
  while (at < search.end() && search.size() - at > kWidth) {
    const auto* const here = reinterpret_cast<const __m128i*>(search.bytes() + at);
    const auto* const next = reinterpret_cast<const __m128i*>(search.bytes() + at + 1);
    const __m128i first = _mm_loadu_si128(here);
    const __m128i second = _mm_loadu_si128(next);
    __m128i any = _mm_setzero_si128();
    for (std::size_t index = 0; index < pairs.size(); ++index) {
      const __m128i second_fits =
          _mm_or_si128(_mm_cmpeq_epi8(second, seconds[index]), any_second[index]);
      any = _mm_or_si128(any, _mm_and_si128(_mm_cmpeq_epi8(first, firsts[index]), second_fits));
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

// The buckets whose k-th fingerprint bytes may be those of the 32 positions from `bytes` on.
__attribute__((target("avx2"))) inline __m256i buckets_by_byte(const Avx2Tables& tables,
                                                               std::size_t k,
                                                               const std::uint8_t* bytes) {
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + k));
  const __m256i low = _mm256_and_si256(block, nibble);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(block, 4), nibble);
  return _mm256_and_si256(_mm256_shuffle_epi8(tables.low[k], low),
                          _mm256_shuffle_epi8(tables.high[k], high));
}

// By all their bytes; reads kFingerprintBytes - 1 bytes past the 32. Written out, since -O2 leaves
// so short a loop rolled, with the tables in memory.
__attribute__((target("avx2"))) inline __m256i buckets_of_32(const Avx2Tables& tables,
                                                             const std::uint8_t* bytes) {
  static_assert(kFingerprintBytes == 4);
  const __m256i first_two =
      _mm256_and_si256(buckets_by_byte(tables, 0, bytes), buckets_by_byte(tables, 1, bytes));
  const __m256i last_two =
      _mm256_and_si256(buckets_by_byte(tables, 2, bytes), buckets_by_byte(tables, 3, bytes));
  return _mm256_and_si256(first_two, last_two);
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
