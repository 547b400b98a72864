// Matrix products on row-major data: OpenBLAS where it was found when this was built, else plain
// loops that give the same within rounding. Everything heavy in a step ends here.
#pragma once

#include <cstdint>

namespace llmb::runner::cpu {

// A matrix as it lies in memory: `stride` elements from one row to the next; `transposed` when
// the product wants its transpose.
template <typename T>
struct Operand {
  const T* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

// c (m, n) = alpha * a (m, k) * b (k, n) + beta * c; with beta 0, c is not read. Strides of c in
// elements. Threads: threads_per_rank(); their number does not change the result.
template <typename T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
          T beta, T* c, std::int64_t c_stride);

// The plain loops, for comparison.
template <typename T>
void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
                T beta, T* c, std::int64_t c_stride);

// "OpenBLAS 0.3.21 …" or "plain loops".
const char* gemm_library();

}  // namespace llmb::runner::cpu
