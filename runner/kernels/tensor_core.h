// Products of BF16 and FP8 matrices by tensor cores, a warp at a time (mma.sync.m16n8k16, which
// every architecture from sm_80 on has; m16n8k32 from sm_89 on), their operands from shared memory
// (ldmatrix), and copies from device to shared memory beside the arithmetic (cp.async). Over the
// shim the same, element by element (runner/simt/tensor_core.h). Included by .cu files only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runner/kernels/device.h"

#if !defined(__CUDACC__)
#include "runner/simt/tensor_core.h"
#endif

namespace llmb::runner::kernels {

// Two FP8 numbers that lie beside each other, the first in the low bits: what is said below of
// elements of 16 bits holds for pairs as it does for BF16.
template <typename Fp8>
struct Pair {
  std::uint16_t bits;
};
// Columns, and elements between rows, are even.
template <typename Fp8>
Matrix<const Pair<Fp8>> in_pairs(const Matrix<const Fp8>& matrix) {
  return {reinterpret_cast<const Pair<Fp8>*>(matrix.data), matrix.rows, matrix.cols / 2,
          matrix.stride / 2};
}

// Elements of 16 bits in dynamic shared memory, as bits.
using SharedBits = SharedSpan<std::uint16_t>;

// Four matrices of 8 rows of 8 elements. `at`: where row lane % 8 of matrix lane / 8 begins, in
// elements, a multiple of 8. Lane l gets elements (l / 4, l % 4 * 2 and the next) of each; or, with
// kTransposed, of its transpose.
template <bool kTransposed>
__device__ inline void load_fragments(const SharedBits& from, int at, std::uint32_t (&words)[4]) {
#if defined(__CUDACC__)
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(from.values + at));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  }
#else
  simt::load_fragments({__FILE__, __LINE__}, from, at, kTransposed, words);
#endif
}

#if !defined(__CUDACC__)
template <typename Element>
float decoded(std::uint32_t word, int index) {
  if constexpr (std::is_same_v<Element, Bf16>) {
    return to_float(Bf16{static_cast<std::uint16_t>(word >> (16 * index))});
  } else if constexpr (std::is_same_v<Element, Pair<Fp8E4m3>>) {
    return to_float(Fp8E4m3{static_cast<std::uint8_t>(word >> (8 * index))});
  } else {
    return to_float(Fp8E5m2{static_cast<std::uint8_t>(word >> (8 * index))});
  }
}
#endif

// d (16, 8) += a (16, k) b (k, 8), where k is 16 elements of BF16, or 16 pairs: of any format of
// FP8 for a, of E4M3 for b. Lane l has of d rows l / 4 and l / 4 + 8, columns l % 4 * 2 and the
// next: d[2 i + j] is row i, column j of these.
template <typename A, typename B>
__device__ inline void multiply_fragments(float (&d)[4], const std::uint32_t (&a)[4],
                                          const std::uint32_t (&b)[2]) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<A, Bf16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else if constexpr (std::is_same_v<A, Pair<Fp8E4m3>>) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#else
  constexpr int kInWord = std::is_same_v<A, Bf16> ? 2 : 4;
  simt::multiply_fragments({__FILE__, __LINE__}, d, a, b, {kInWord, decoded<A>, decoded<B>});
#endif
}

// Eight elements from `from` to `at`, both at multiples of 16 bytes; from element `count` on zeros
// are written and nothing is read.
template <typename Element>
__device__ inline void begin_copy(const SharedBits& to, int at, const Element* from, int count) {
  static_assert(sizeof(Element) == sizeof(std::uint16_t));
#if defined(__CUDACC__)
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to.values + at));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(from), "r"(count * 2)
               : "memory");
#else
  simt::begin_copy(to, at, reinterpret_cast<const std::uint16_t*>(from), count);
#endif
}
// What this lane has begun since the last time is one group of copies, be it empty.
__device__ inline void commit_copies() {
#if defined(__CUDACC__)
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  simt::commit_copies();
#endif
}
// Until all but the last kPending groups of this lane have come; a barrier shows them to others.
template <int kPending>
__device__ inline void wait_for_copies() {
#if defined(__CUDACC__)
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#else
  simt::wait_for_copies(kPending);
#endif
}

}  // namespace llmb::runner::kernels
