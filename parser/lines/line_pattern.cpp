#include "parser/lines/byte_pattern.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "parser/lines/literal_scanner.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmb::parser {
namespace {

constexpr std::size_t kWidth16 = 16;
using Bytes16 = signed char __attribute__((vector_size(kWidth16)));

Bytes16 bytes_16(const char* from) {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

// The compiler's own vectors: SSE2 or NEON.
bool compare_16(const char* text, const char* bytes, std::size_t size) {
  Bytes16 all = ~Bytes16{};
  for (std::size_t at = 0; at < size; at += kWidth16) {
    const Bytes16 byte = bytes_16(bytes + at);
    const Bytes16 expected = bytes_16(text + at);
    const Bytes16 is_hex =
        ((byte > '0' - 1) & (byte < '9' + 1)) | ((byte > 'a' - 1) & (byte < 'f' + 1));
    const Bytes16 may_be_hex = expected == 0;
    all &= (may_be_hex & is_hex) | (~may_be_hex & ((expected == 1) | (expected == byte)));
  }
  std::uint64_t halves[2];
  std::memcpy(halves, &all, sizeof all);
  return (halves[0] & halves[1]) == ~std::uint64_t{0};
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) bool compare_avx2(const char* text, const char* bytes,
                                                  std::size_t size) {
  constexpr std::size_t kWidth32 = 32;
  __m256i all = _mm256_set1_epi8(-1);
  for (std::size_t at = 0; at < size; at += kWidth32) {
    const __m256i byte = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at));
    const __m256i expected = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    const __m256i digit = _mm256_sub_epi8(byte, _mm256_set1_epi8('0'));
    const __m256i letter = _mm256_sub_epi8(byte, _mm256_set1_epi8('a'));
    const __m256i is_hex =
        _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit),
                        _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(5)), letter));
    const __m256i is_equal = _mm256_or_si256(_mm256_cmpeq_epi8(expected, _mm256_set1_epi8(1)),
                                             _mm256_cmpeq_epi8(expected, byte));
    const __m256i may_be_hex = _mm256_cmpeq_epi8(expected, _mm256_setzero_si256());
    all = _mm256_and_si256(all, _mm256_blendv_epi8(is_equal, is_hex, may_be_hex));
  }
  return _mm256_movemask_epi8(all) == -1;
}

#define LLMB_AVX512 __attribute__((target("avx512f,avx512bw")))

LLMB_AVX512 bool compare_avx512(const char* text, const char* bytes, std::size_t size) {
  constexpr std::size_t kWidth64 = 64;
  __mmask64 wrong = 0;
  for (std::size_t at = 0; at < size; at += kWidth64) {
    const __m512i byte = _mm512_loadu_si512(bytes + at);
    const __m512i expected = _mm512_loadu_si512(text + at);
    const __mmask64 is_fixed = _mm512_cmpgt_epu8_mask(expected, _mm512_set1_epi8(1));
    const __mmask64 may_be_hex = _mm512_testn_epi8_mask(expected, expected);
    const __m512i digit = _mm512_sub_epi8(byte, _mm512_set1_epi8('0'));
    const __m512i letter = _mm512_sub_epi8(byte, _mm512_set1_epi8('a'));
    const __mmask64 no_digit = _mm512_mask_cmpgt_epu8_mask(may_be_hex, digit, _mm512_set1_epi8(9));
    const __mmask64 no_hex = _mm512_mask_cmpgt_epu8_mask(no_digit, letter, _mm512_set1_epi8(5));
    wrong |= _mm512_mask_cmpneq_epu8_mask(is_fixed, byte, expected) | no_hex;
  }
  return wrong == 0;
}

#undef LLMB_AVX512

#endif

auto comparison_of([[maybe_unused]] ScanEngine engine) {
#if defined(__x86_64__)
  if (engine == ScanEngine::avx512) return compare_avx512;
  if (engine == ScanEngine::avx2) return compare_avx2;
#endif
  return compare_16;
}

}  // namespace

bool can_be_pattern(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  constexpr std::uint64_t kHighest = 0x80 * kEach;
  const auto is_mark = [](char c) { return static_cast<signed char>(c) <= kPatternAnyByte; };
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    // Where no byte is above 0x7f, adding sets the highest bit of those that are at least 2.
    if ((word & kHighest) != 0 || ((word + 0x7e * kEach) & kHighest) != kHighest) return false;
  }
  return std::none_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_mark);
}

PatternMatcher::PatternMatcher(ScanEngine engine) {
  const auto available = LiteralScanner::available_engines();
  if (engine == ScanEngine::best) engine = available.back();
  if (std::find(available.begin(), available.end(), engine) == available.end()) {
    throw std::invalid_argument(
        "pattern matcher: this machine has not the engine that is asked for");
  }
  compare_ = comparison_of(engine);
}

}  // namespace llmb::parser
