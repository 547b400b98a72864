// Fp8Copy: a matrix in FP8 in a rank's device memory, as cuBLASLt wants it: rows of multiples of 16
// bytes, the columns behind the matrix's own being zero. It casts nothing.
#pragma once

#include <cstdint>

#include "runner/cuda/gemm.h"
#include "runner/cuda/memory_pool.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"

namespace llmb::runner::cuda {

template <typename Fp8>
class Fp8Copy {
 public:
  void resize(MemoryPool& pool, std::int64_t rows, std::int64_t cols, PoolUse use) {
    rows_ = rows;
    cols_ = cols;
    block_.resize(pool, bytes(), use);
    if (padded_cols() == cols) return;
    fill_async(block_.data(), 0, static_cast<std::size_t>(bytes()), pool.stream());
  }
  kernels::Matrix<Fp8> matrix() {
    return {reinterpret_cast<Fp8*>(block_.data()), rows_, cols_, padded_cols()};
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t bytes() const { return rows_ * padded_cols(); }
  std::int64_t padded_cols() const { return padded(cols_); }
  static std::int64_t padded(std::int64_t cols) {
    constexpr std::int64_t kRowMultiple = 16;
    return (cols + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  }
  GemmOperand operand(bool is_transposed, const float* inverse) const {
    return {block_.data(), number_type_of<Fp8>(), padded_cols(), is_transposed, inverse};
  }

 private:
  PoolBlock block_;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
};

// One or both of the layouts, of one scale.
template <typename Fp8>
struct Fp8Copies {
  Fp8Copy<Fp8> as_it_lies;
  Fp8Copy<Fp8> transposed;
  const float* inverse = nullptr;
};

}  // namespace llmb::runner::cuda
