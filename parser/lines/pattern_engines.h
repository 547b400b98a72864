// What compares lines with a LinePattern: each engine is a type with
//
//   // How long the line at `bytes` is, with its end, where that is within 64 bytes from
//   // `length_min` on; else, or where there is an earlier end, some other length up to
//   // LinePattern::kReach.
//   std::size_t line_length(const char* bytes, std::size_t length_min) const;
//   // Whether the first `length` of `bytes`, up to LinePattern::kReach, are like the pattern.
//   bool are_like(const LinePattern&, const char* bytes, std::size_t length) const;
//
// of which all say the same. with_pattern_engine() runs a loop that is compiled for each of them,
// with the comparison in it: a call for each line would cost half as much again.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "parser/lines/fingerprint.h"
#include "parser/lines/line_pattern.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmb::parser {

// ---- Any machine: 16 bytes, by the compiler's own vectors, which are SSE2 or NEON

// How many of the eight bytes at `at` are such digits, before the first that is none. Adding
// 0x80 - c to a byte sets its highest bit exactly when it is at least c, as long as it is below
// 0x80; bytes above it spoil those behind them only.
inline std::size_t hex_digits_of_8(const char* at) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const auto at_least = [word](std::uint64_t c) { return word + (0x80 - c) * kEach; };
  const std::uint64_t digits = at_least('0') & ~at_least('9' + 1);
  const std::uint64_t letters = at_least('a') & ~at_least('f' + 1);
  const std::uint64_t others = (~(digits | letters) | word) & (0x80 * kEach);
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

// Whether the `count` bytes at `at` are such digits, up to LinePattern::kDigitsMax.
inline bool are_hex_digits(const char* at, std::size_t count) {
  return hex_digits_of_8(at) >= std::min<std::size_t>(count, 8) &&
         (count <= 8 || hex_digits_of_8(at + 8) >= count - 8);
}

using Bytes16 = signed char __attribute__((vector_size(16)));

inline Bytes16 bytes_16(const char* from) {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

struct Comparison16 {
  static bool is_like(const char* text, const char* bytes, std::size_t size) {
    static_assert(LinePattern::kAnyByte == 0 && LinePattern::kHexDigit == 1);
    Bytes16 all = ~Bytes16{};
    for (std::size_t at = 0; at < size; at += sizeof(Bytes16)) {
      const Bytes16 byte = bytes_16(bytes + at);
      const Bytes16 expected = bytes_16(text + at);
      const Bytes16 is_hex =
          ((byte > '0' - 1) & (byte < '9' + 1)) | ((byte > 'a' - 1) & (byte < 'f' + 1));
      const Bytes16 may_be_hex = expected == 1;
      all &= (may_be_hex & is_hex) | (~may_be_hex & ((expected == 0) | (expected == byte)));
    }
    std::uint64_t halves[2];
    std::memcpy(halves, &all, sizeof all);
    return (halves[0] & halves[1]) == ~std::uint64_t{0};
  }
};

// Head, digits and tail, one after the other.
template <typename Comparison>
struct PatternByParts {
  std::size_t line_length(const char* bytes, std::size_t length_min) const {
    constexpr std::size_t kWindow = 64;
    std::size_t at = length_min;
    while (at < length_min + kWindow && bytes[at] != '\n') ++at;
    return at + 1;
  }

  bool are_like(const LinePattern& pattern, const char* bytes, std::size_t length) const {
    const std::size_t head = pattern.head_size();
    const std::size_t digits = length - pattern.tail_size() - head;
    return head != 0 && digits - 1 < LinePattern::kDigitsMax &&
           Comparison::is_like(pattern.head(), bytes, head) &&
           are_hex_digits(bytes + head, digits) &&
           Comparison::is_like(pattern.tail(), bytes + head + digits, pattern.tail_size());
  }
};

#if defined(__x86_64__)

// ---- AVX2: 32 bytes

struct ComparisonAvx2 {
  __attribute__((target("avx2"))) static bool is_like(const char* text, const char* bytes,
                                                      std::size_t size) {
    constexpr std::size_t kWidth = 32;
    __m256i all = _mm256_set1_epi8(-1);
    for (std::size_t at = 0; at < size; at += kWidth) {
      const __m256i byte = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at));
      const __m256i expected = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
      const __m256i digit = _mm256_sub_epi8(byte, _mm256_set1_epi8('0'));
      const __m256i letter = _mm256_sub_epi8(byte, _mm256_set1_epi8('a'));
      const __m256i is_digit =
          _mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit);
      const __m256i is_letter =
          _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(5)), letter);
      const __m256i is_any = _mm256_cmpeq_epi8(expected, _mm256_setzero_si256());
      const __m256i is_equal = _mm256_or_si256(_mm256_cmpeq_epi8(byte, expected), is_any);
      const __m256i is_hex = _mm256_or_si256(is_digit, is_letter);
      const __m256i may_be_hex = _mm256_cmpeq_epi8(expected, _mm256_set1_epi8(1));
      all = _mm256_and_si256(all, _mm256_blendv_epi8(is_equal, is_hex, may_be_hex));
    }
    return _mm256_movemask_epi8(all) == -1;
  }
};

// ---- AVX-512: 64 bytes

#define LLMB_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,bmi,bmi2")))

// By a byte below 0x80: kHexDigit where it is one, else 0xff.
alignas(64) inline constexpr std::array<std::uint8_t, 128> kHexMarks = [] {
  std::array<std::uint8_t, 128> marks{};
  marks.fill(0xff);
  for (const char digit : std::string_view("0123456789abcdef")) {
    marks[static_cast<unsigned char>(digit)] = LinePattern::kHexDigit;
  }
  return marks;
}();

class PatternAvx512 {
 public:
  LLMB_AVX512 PatternAvx512()
      : marks_below_64_(_mm512_load_si512(kHexMarks.data())),
        marks_from_64_(_mm512_load_si512(kHexMarks.data() + kWidth)) {}

  LLMB_AVX512 std::size_t line_length(const char* bytes, std::size_t length_min) const {
    const __m512i window = _mm512_loadu_si512(bytes + length_min);
    return length_min + 1 + _tzcnt_u64(_mm512_cmple_epu8_mask(window, _mm512_set1_epi8('\r')));
  }

  LLMB_AVX512 bool are_like(const LinePattern& pattern, const char* bytes,
                            std::size_t length) const {
    const std::size_t head = pattern.head_size();
    const std::size_t size = pattern.tail_size();
    const std::size_t digits = length - size - head;
    if (digits - 1 >= LinePattern::kDigitsMax || head == 0) return false;
    __m512i wrong = _mm512_xor_si512(load(bytes, head), _mm512_loadu_si512(pattern.head()));
    if (head > kWidth) {
      wrong = or_differences(wrong, load(bytes + kWidth, head - kWidth),
                             _mm512_loadu_si512(pattern.head() + kWidth));
    }
    const __m512i counter = load(bytes + head);
    const __m512i marks = _mm512_permutex2var_epi8(marks_below_64_, counter, marks_from_64_);
    const __mmask64 no_digits = _mm512_mask_test_epi8_mask(
        low_bits(digits), _mm512_or_si512(marks, counter), _mm512_set1_epi8(-128));
    const char* const tail = bytes + length - size;
    std::size_t at = 0;
    if (size > 2 * kWidth) [[likely]] {
      compare(wrong, load(tail), pattern, 0);
      compare(wrong, load(tail + kWidth), pattern, kWidth);
      at = 2 * kWidth;
    }
    for (; size - at > kWidth; at += kWidth) compare(wrong, load(tail + at), pattern, at);
    compare(wrong, load(tail + at, size - at), pattern, at);
    return (no_digits | _mm512_test_epi64_mask(wrong, wrong)) == 0;
  }

 private:
  static constexpr std::size_t kWidth = 64;

  // Each once: the compiler would load what is used twice again.
  LLMB_AVX512 static __m512i load(const char* bytes) {
    __m512i block = _mm512_loadu_si512(bytes);
    asm("" : "+v"(block));
    return block;
  }
  // The first `count`, and zeros.
  LLMB_AVX512 static __m512i load(const char* bytes, std::size_t count) {
    __m512i block = _mm512_maskz_loadu_epi8(low_bits(count), bytes);
    asm("" : "+v"(block));
    return block;
  }
  LLMB_AVX512 static __mmask64 low_bits(std::size_t count) {
    return _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(count));
  }

  LLMB_AVX512 static __m512i or_differences(__m512i wrong, __m512i a, __m512i b) {
    return _mm512_ternarylogic_epi64(wrong, a, b, 0xf6);
  }

  // A block against 64 bytes of the tail, which are zeros past its end.
  LLMB_AVX512 void compare(__m512i& wrong, __m512i block, const LinePattern& pattern,
                           std::size_t at) const {
    const __m512i marked = _mm512_mask2_permutex2var_epi8(
        marks_below_64_, block, pattern.hex_bits(at / kWidth), marks_from_64_);
    wrong = or_differences(wrong, marked, _mm512_loadu_si512(pattern.tail() + at));
    // The marks say nothing of bytes above 0x7f, which no pattern has.
    wrong = _mm512_ternarylogic_epi64(wrong, block, _mm512_set1_epi8(-128), 0xf8);
  }

  __m512i marks_below_64_;
  __m512i marks_from_64_;
};

template <typename Loop>
LLMB_AVX512 __attribute__((flatten)) auto with_avx512(Loop& loop) {
  return loop(PatternAvx512());
}
template <typename Loop>
__attribute__((target("avx2"))) auto with_avx2(Loop& loop) {
  return loop(PatternByParts<ComparisonAvx2>());
}

#undef LLMB_AVX512

#endif

// Calls loop(engine) with the engine of that name, which this machine has. The loop has to be
// always inlined.
template <typename Loop>
auto with_pattern_engine([[maybe_unused]] ScanEngine engine, Loop loop) {
#if defined(__x86_64__)
  if (engine == ScanEngine::avx512) return with_avx512(loop);
  if (engine == ScanEngine::avx2) return with_avx2(loop);
#endif
  return loop(PatternByParts<Comparison16>());
}

}  // namespace llmb::parser
