// The engines of x86-64, chosen at run time. SSSE3 and AVX2 have shuffles of 16 entries: two a
// fingerprint byte, for 16 or 32 positions. AVX-512 with VBMI has such of 128 entries: one a pair
// of bytes, for 64 positions.
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

using NibbleSet = FilterTables<NibbleFilter>::Set;

// ---- SSSE3: 16 positions

#define LLMB_SSSE3 __attribute__((target("ssse3")))

LLMB_SSSE3 inline __m128i load_16(const std::uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

// The buckets of the set whose k-th fingerprint bytes may be those of 16 positions.
LLMB_SSSE3 inline __m128i look_up_16(const NibbleSet& set, std::size_t k, __m128i low,
                                     __m128i high) {
  return _mm_and_si128(_mm_shuffle_epi8(load_16(set[2 * k].data()), low),
                       _mm_shuffle_epi8(load_16(set[2 * k + 1].data()), high));
}

// Of `kSets` sets of buckets those by all bytes of the 16 positions from `bytes` on; reads
// kFingerprintBytes - 1 bytes past them.
template <std::size_t kSets>
LLMB_SSSE3 inline std::uint32_t lanes_of_16(const std::array<NibbleSet, 2>& sets,
                                            const std::uint8_t* bytes) {
  const __m128i nibble = _mm_set1_epi8(0x0f);
  __m128i first = _mm_set1_epi8(-1);
  __m128i second = kSets == 2 ? first : _mm_setzero_si128();
  __m128i block = load_16(bytes);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const __m128i behind = k + 1 < kFingerprintBytes ? load_16(bytes + k + 1) : block;
    const __m128i low = _mm_and_si128(block, nibble);
    const __m128i high = _mm_and_si128(_mm_xor_si128(_mm_srli_epi16(block, 4), behind), nibble);
    first = _mm_and_si128(first, look_up_16(sets[0], k, low, high));
    if (kSets == 2) second = _mm_and_si128(second, look_up_16(sets[1], k, low, high));
    block = behind;
  }
  const __m128i none = _mm_cmpeq_epi8(_mm_or_si128(first, second), _mm_setzero_si128());
  return static_cast<std::uint32_t>(_mm_movemask_epi8(none)) ^ 0xffffU;
}

// ---- AVX2: 32 positions

#define LLMB_AVX2 __attribute__((target("avx2")))

LLMB_AVX2 inline __m256i load_32(const std::uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

LLMB_AVX2 inline __m256i load_twice(const std::uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

LLMB_AVX2 inline __m256i look_up_32(const NibbleSet& set, std::size_t k, __m256i low,
                                    __m256i high) {
  return _mm256_and_si256(_mm256_shuffle_epi8(load_twice(set[2 * k].data()), low),
                          _mm256_shuffle_epi8(load_twice(set[2 * k + 1].data()), high));
}

template <std::size_t kSets>
LLMB_AVX2 inline std::uint32_t lanes_of_32(const std::array<NibbleSet, 2>& sets,
                                           const std::uint8_t* bytes) {
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  __m256i first = _mm256_set1_epi8(-1);
  __m256i second = kSets == 2 ? first : _mm256_setzero_si256();
  __m256i block = load_32(bytes);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    const __m256i behind = k + 1 < kFingerprintBytes ? load_32(bytes + k + 1) : block;
    const __m256i low = _mm256_and_si256(block, nibble);
    const __m256i high =
        _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi16(block, 4), behind), nibble);
    first = _mm256_and_si256(first, look_up_32(sets[0], k, low, high));
    if (kSets == 2) second = _mm256_and_si256(second, look_up_32(sets[1], k, low, high));
    block = behind;
  }
  const __m256i none = _mm256_cmpeq_epi8(_mm256_or_si256(first, second), _mm256_setzero_si256());
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
}

// ---- AVX-512: 64 positions

#define LLMB_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))

struct Tables64 {
  __m512i below_64[PairFilter::kLookups];
  __m512i from_64[PairFilter::kLookups];
};

LLMB_AVX512 inline Tables64 load_tables(const FingerprintPlan& plan) {
  Tables64 tables;
#pragma GCC unroll 8
  for (std::size_t k = 0; k < PairFilter::kLookups; ++k) {
    const std::uint8_t* const entries = plan.pairs.sets[0][k].data();
    tables.below_64[k] = _mm512_load_si512(entries);
    tables.from_64[k] = _mm512_load_si512(entries + 64);
  }
  return tables;
}

// The buckets whose k-th pair of fingerprint bytes may be those of 64 positions.
LLMB_AVX512 inline __m512i by_pair_64(const Tables64& tables, std::size_t k, __m512i first,
                                      __m512i second) {
  const __m512i values = _mm512_xor_si512(first, _mm512_add_epi8(second, second));
  return _mm512_permutex2var_epi8(tables.below_64[k], values, tables.from_64[k]);
}

LLMB_AVX512 inline __m512i and_3(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x80);
}

// `blocks`: the bytes of 64 positions, and those from 1 to 7 behind.
LLMB_AVX512 inline std::uint64_t lanes_of_64(const Tables64& tables, const __m512i (&blocks)[8]) {
  const auto by_pair = [&](std::size_t k)
                           LLMB_AVX512 { return by_pair_64(tables, k, blocks[k], blocks[k + 1]); };
  const __m512i begin = and_3(by_pair(0), by_pair(1), by_pair(2));
  const __m512i end = and_3(by_pair(4), by_pair(5), by_pair(6));
  const __m512i buckets = and_3(begin, by_pair(3), end);
  return _mm512_test_epi8_mask(buckets, buckets);
}

// Each once: the compiler would load those that are asked for twice again.
LLMB_AVX512 inline __m512i load_64(const std::uint8_t* bytes) {
  __m512i block = _mm512_loadu_si512(bytes);
  asm("" : "+v"(block));
  return block;
}

LLMB_AVX512 inline std::uint64_t lanes_of_64(const Tables64& tables, const std::uint8_t* bytes) {
  const __m512i blocks[8] = {load_64(bytes),     load_64(bytes + 1), load_64(bytes + 2),
                             load_64(bytes + 3), load_64(bytes + 4), load_64(bytes + 5),
                             load_64(bytes + 6), load_64(bytes + 7)};
  return lanes_of_64(tables, blocks);
}

// Out of the scan's loop, which few of its rounds leave.
__attribute__((noinline)) void check_lanes(CandidateSearch& search, std::size_t at,
                                           std::uint64_t lanes) {
  search.check_lanes(at, lanes);
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

template <std::size_t kSets>
LLMB_SSSE3 void scan_by_16(CandidateSearch& search) {
  constexpr std::size_t kWidth = 16;
  const auto& sets = search.plan().nibbles.sets;
  std::size_t at = search.from();
  for (; is_left(search, at, 2 * kWidth); at += 2 * kWidth) {
    const std::uint32_t first = lanes_of_16<kSets>(sets, search.bytes() + at);
    const std::uint32_t second = lanes_of_16<kSets>(sets, search.bytes() + at + kWidth);
    const std::uint32_t lanes = first | second << kWidth;
    if (lanes != 0) check_lanes(search, at, lanes);
  }
  for (; at < search.end(); at += kWidth) {
    const auto rest = rest_bytes<kWidth>(search, at);
    check_lanes(search, at, lanes_of_16<kSets>(sets, rest.data()) & low_bits(search.size() - at));
  }
}

template <std::size_t kSets>
LLMB_AVX2 void scan_by_32(CandidateSearch& search) {
  constexpr std::size_t kWidth = 32;
  const auto& sets = search.plan().nibbles.sets;
  std::size_t at = search.from();
  for (; is_left(search, at, kWidth); at += kWidth) {
    const std::uint32_t lanes = lanes_of_32<kSets>(sets, search.bytes() + at);
    if (lanes != 0) check_lanes(search, at, lanes);
  }
  for (; at < search.end(); at += kWidth) {
    const auto rest = rest_bytes<kWidth>(search, at);
    check_lanes(search, at, lanes_of_32<kSets>(sets, rest.data()) & low_bits(search.size() - at));
  }
}

LLMB_AVX512 void check_rest_64(CandidateSearch& search, std::size_t at) {
  constexpr std::size_t kWidth = 64;
  for (; at < search.end(); at += kWidth) {
    const std::size_t left = search.size() - at;
    __m512i blocks[8];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) {
      const __mmask64 there = low_bits(left - std::min(left, k));
      blocks[k] = _mm512_maskz_loadu_epi8(there, search.bytes() + at + k);
    }
    const std::uint64_t lanes = lanes_of_64(load_tables(search.plan()), blocks) & low_bits(left);
    if (lanes != 0) check_lanes(search, at, lanes);
  }
}

}  // namespace

void scan_ssse3(CandidateSearch& search) {
  search.plan().nibble_set_count == 1 ? scan_by_16<1>(search) : scan_by_16<2>(search);
}

void scan_avx2(CandidateSearch& search) {
  search.plan().nibble_set_count == 1 ? scan_by_32<1>(search) : scan_by_32<2>(search);
}

LLMB_AVX512 void scan_avx512(CandidateSearch& search) {
  constexpr std::size_t kWidth = 64;
  std::size_t at = search.from();
  while (is_left(search, at, kWidth)) {
    // Loaded again after each check: to keep them over it would cost as many stores, too.
    const Tables64 tables = load_tables(search.plan());
    const std::size_t last =
        std::min(search.end() - 1, search.size() - kWidth - kFingerprintBytes + 1);
    std::uint64_t lanes = 0;
    do {
      lanes = lanes_of_64(tables, search.bytes() + at);
      at += kWidth;
    } while (lanes == 0 && at <= last);
    if (lanes != 0) check_lanes(search, at - kWidth, lanes);
  }
  check_rest_64(search, at);
}

#undef LLMB_SSSE3
#undef LLMB_AVX2
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
