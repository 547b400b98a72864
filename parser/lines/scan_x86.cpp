// The engines of x86-64, chosen at run time. SSSE3 and AVX2 look all buckets up at once: two
// shuffles a fingerprint byte, by its nibbles, for 16 or 32 positions. AVX-512 with VBMI has
// shuffles of 128 entries: one a byte, by seven of its bits, for 64 positions.
#include "parser/lines/scan_engines.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace llmb::parser {

bool has_ssse3() {
  return __builtin_cpu_supports("ssse3") != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vbmi") != 0;
}

namespace {

static_assert(kFingerprintBytes == 8);  // each engine has the eight written out

// ---- SSSE3: 16 positions

struct Tables16 {
  __m128i low[kFingerprintBytes];
  __m128i high[kFingerprintBytes];
};

// The buckets whose k-th fingerprint bytes may be those of the 16 positions from `bytes` on.
__attribute__((target("ssse3"))) inline __m128i by_byte_16(const Tables16& tables, std::size_t k,
                                                           const std::uint8_t* bytes) {
  const __m128i nibble = _mm_set1_epi8(0x0f);
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + k));
  const __m128i low = _mm_and_si128(block, nibble);
  const __m128i high = _mm_and_si128(_mm_srli_epi16(block, 4), nibble);
  return _mm_and_si128(_mm_shuffle_epi8(tables.low[k], low),
                       _mm_shuffle_epi8(tables.high[k], high));
}

// By all their bytes; reads kFingerprintBytes - 1 bytes past the 16. Written out, since -O2 leaves
// so short a loop rolled.
__attribute__((target("ssse3"))) inline __m128i buckets_of_16(const Tables16& tables,
                                                              const std::uint8_t* bytes) {
  __m128i buckets = by_byte_16(tables, 0, bytes);
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 1, bytes));
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 2, bytes));
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 3, bytes));
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 4, bytes));
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 5, bytes));
  buckets = _mm_and_si128(buckets, by_byte_16(tables, 6, bytes));
  return _mm_and_si128(buckets, by_byte_16(tables, 7, bytes));
}

// ---- AVX2: 32 positions

struct Tables32 {
  __m256i low[kFingerprintBytes];
  __m256i high[kFingerprintBytes];
};

__attribute__((target("avx2"))) inline __m256i twice(const FingerprintPlan::NibbleTable& table) {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

__attribute__((target("avx2"))) inline __m256i by_byte_32(const Tables32& tables, std::size_t k,
                                                          const std::uint8_t* bytes) {
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + k));
  const __m256i low = _mm256_and_si256(block, nibble);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(block, 4), nibble);
  return _mm256_and_si256(_mm256_shuffle_epi8(tables.low[k], low),
                          _mm256_shuffle_epi8(tables.high[k], high));
}

__attribute__((target("avx2"))) inline __m256i buckets_of_32(const Tables32& tables,
                                                             const std::uint8_t* bytes) {
  __m256i buckets = by_byte_32(tables, 0, bytes);
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 1, bytes));
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 2, bytes));
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 3, bytes));
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 4, bytes));
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 5, bytes));
  buckets = _mm256_and_si256(buckets, by_byte_32(tables, 6, bytes));
  return _mm256_and_si256(buckets, by_byte_32(tables, 7, bytes));
}

// ---- AVX-512: 64 positions

#define LLMB_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))

struct Tables64 {
  __m512i below_64[kFingerprintBytes];
  __m512i from_64[kFingerprintBytes];
};

// Entries by a byte's lower seven bits: of the two bytes that share them, either passes.
LLMB_AVX512 void load_tables(const FingerprintPlan& plan, Tables64& tables) {
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const std::uint8_t* const entries = plan.byte_tables[k].data();
    tables.below_64[k] =
        _mm512_or_si512(_mm512_loadu_si512(entries), _mm512_loadu_si512(entries + 128));
    tables.from_64[k] =
        _mm512_or_si512(_mm512_loadu_si512(entries + 64), _mm512_loadu_si512(entries + 192));
  }
}

LLMB_AVX512 inline __m512i by_byte_64(const Tables64& tables, std::size_t k,
                                      const std::uint8_t* bytes) {
  return _mm512_permutex2var_epi8(tables.below_64[k], _mm512_loadu_si512(bytes + k),
                                  tables.from_64[k]);
}

LLMB_AVX512 inline __m512i and_3(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x80);
}

LLMB_AVX512 inline __m512i buckets_of_64(const Tables64& tables, const std::uint8_t* bytes) {
  const __m512i first = and_3(by_byte_64(tables, 0, bytes), by_byte_64(tables, 1, bytes),
                              by_byte_64(tables, 2, bytes));
  const __m512i middle = and_3(by_byte_64(tables, 3, bytes), by_byte_64(tables, 4, bytes),
                               by_byte_64(tables, 5, bytes));
  const __m512i last = _mm512_and_si512(by_byte_64(tables, 6, bytes), by_byte_64(tables, 7, bytes));
  return and_3(first, middle, last);
}

// `lanes`: a bit for each of the bytes from `buckets` on that is not 0.
void check_lanes(CandidateSearch& search, std::size_t at, const std::uint8_t* buckets,
                 std::uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    search.check(at + lane, buckets[lane]);
  }
}

// `lanes`: which of the positions count.
__attribute__((target("ssse3"), noinline)) void check_16(CandidateSearch& search, std::size_t at,
                                                         __m128i buckets, std::uint64_t lanes) {
  alignas(16) std::array<std::uint8_t, 16> bucket_bits;
  _mm_store_si128(reinterpret_cast<__m128i*>(bucket_bits.data()), buckets);
  const auto none = _mm_movemask_epi8(_mm_cmpeq_epi8(buckets, _mm_setzero_si128()));
  check_lanes(search, at, bucket_bits.data(), static_cast<std::uint16_t>(~none) & lanes);
}

__attribute__((target("avx2"), noinline)) void check_32(CandidateSearch& search, std::size_t at,
                                                        __m256i buckets, std::uint64_t lanes) {
  alignas(32) std::array<std::uint8_t, 32> bucket_bits;
  _mm256_store_si256(reinterpret_cast<__m256i*>(bucket_bits.data()), buckets);
  const auto none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256()));
  check_lanes(search, at, bucket_bits.data(), static_cast<std::uint32_t>(~none) & lanes);
}

LLMB_AVX512 __attribute__((noinline)) void check_64(CandidateSearch& search, std::size_t at,
                                                    __m512i buckets, std::uint64_t lanes) {
  alignas(64) std::array<std::uint8_t, 64> bucket_bits;
  _mm512_store_si512(bucket_bits.data(), buckets);
  check_lanes(search, at, bucket_bits.data(), _mm512_test_epi8_mask(buckets, buckets) & lanes);
}

// Whether `width` positions from `at` on are left, with all their fingerprint bytes.
bool is_left(const CandidateSearch& search, std::size_t at, std::size_t width) {
  return at < search.end() && search.size() - at >= width + kFingerprintBytes - 1;
}

// ---- What is left at a block's end, with zeros behind it. Many blocks are one line: this is no
// small part of them.

std::uint64_t low_bits(std::size_t count) {
  return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// The bytes of up to kWidth positions from `at` on.
template <std::size_t kWidth>
using RestBytes = std::array<std::uint8_t, kWidth + kFingerprintBytes - 1>;

template <std::size_t kWidth>
RestBytes<kWidth> rest_bytes(const CandidateSearch& search, std::size_t at) {
  RestBytes<kWidth> rest{};
  std::memcpy(rest.data(), search.bytes() + at, std::min(rest.size(), search.size() - at));
  return rest;
}

__attribute__((target("ssse3"))) void check_rest_16(CandidateSearch& search, std::size_t at,
                                                    const Tables16& tables) {
  constexpr std::size_t kWidth = 16;
  for (; at < search.end(); at += kWidth) {
    const auto rest = rest_bytes<kWidth>(search, at);
    check_16(search, at, buckets_of_16(tables, rest.data()), low_bits(search.size() - at));
  }
}

__attribute__((target("avx2"))) void check_rest_32(CandidateSearch& search, std::size_t at,
                                                   const Tables32& tables) {
  constexpr std::size_t kWidth = 32;
  for (; at < search.end(); at += kWidth) {
    const auto rest = rest_bytes<kWidth>(search, at);
    check_32(search, at, buckets_of_32(tables, rest.data()), low_bits(search.size() - at));
  }
}

LLMB_AVX512 void check_rest_64(CandidateSearch& search, std::size_t at, const Tables64& tables) {
  constexpr std::size_t kWidth = 64;
  for (; at < search.end(); at += kWidth) {
    const std::size_t left = search.size() - at;
    __m512i buckets = _mm512_set1_epi8(-1);
    for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
      const __mmask64 there = low_bits(left - std::min(left, k));
      const __m512i block = _mm512_maskz_loadu_epi8(there, search.bytes() + at + k);
      buckets = _mm512_and_si512(
          buckets, _mm512_permutex2var_epi8(tables.below_64[k], block, tables.from_64[k]));
    }
    check_64(search, at, buckets, low_bits(left));
  }
}

}  // namespace

__attribute__((target("ssse3"))) void scan_ssse3(CandidateSearch& search) {
  constexpr std::size_t kWidth = 16;
  Tables16 tables;
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    tables.low[k] = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(search.plan().low_nibble_tables[k].data()));
    tables.high[k] = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(search.plan().high_nibble_tables[k].data()));
  }
  std::size_t at = search.from();
  for (; is_left(search, at, 2 * kWidth); at += 2 * kWidth) {
    const __m128i first = buckets_of_16(tables, search.bytes() + at);
    const __m128i second = buckets_of_16(tables, search.bytes() + at + kWidth);
    const __m128i none = _mm_cmpeq_epi8(_mm_or_si128(first, second), _mm_setzero_si128());
    if (_mm_movemask_epi8(none) != 0xffff) {
      check_16(search, at, first, low_bits(kWidth));
      check_16(search, at + kWidth, second, low_bits(kWidth));
    }
  }
  check_rest_16(search, at, tables);
}

__attribute__((target("avx2"))) void scan_avx2(CandidateSearch& search) {
  constexpr std::size_t kWidth = 32;
  Tables32 tables;
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    tables.low[k] = twice(search.plan().low_nibble_tables[k]);
    tables.high[k] = twice(search.plan().high_nibble_tables[k]);
  }
  std::size_t at = search.from();
  for (; is_left(search, at, 2 * kWidth); at += 2 * kWidth) {
    const __m256i first = buckets_of_32(tables, search.bytes() + at);
    const __m256i second = buckets_of_32(tables, search.bytes() + at + kWidth);
    const __m256i any = _mm256_or_si256(first, second);
    if (_mm256_testz_si256(any, any) == 0) {
      check_32(search, at, first, low_bits(kWidth));
      check_32(search, at + kWidth, second, low_bits(kWidth));
    }
  }
  check_rest_32(search, at, tables);
}

LLMB_AVX512 void scan_avx512(CandidateSearch& search) {
  constexpr std::size_t kWidth = 64;
  Tables64 tables;
  load_tables(search.plan(), tables);
  std::size_t at = search.from();
  for (; is_left(search, at, kWidth); at += kWidth) {
    const __m512i buckets = buckets_of_64(tables, search.bytes() + at);
    if (_mm512_test_epi8_mask(buckets, buckets) != 0)
      check_64(search, at, buckets, low_bits(kWidth));
  }
  check_rest_64(search, at, tables);
}

#undef LLMB_AVX512

}  // namespace llmb::parser

#else

namespace llmb::parser {
bool has_ssse3() {
  return false;
}
bool has_avx2() {
  return false;
}
bool has_avx512() {
  return false;
}
void scan_ssse3(CandidateSearch& search) {
  scan_portable(search);
}
void scan_avx2(CandidateSearch& search) {
  scan_portable(search);
}
void scan_avx512(CandidateSearch& search) {
  scan_portable(search);
}
}  // namespace llmb::parser

#endif
