// Fp8Copy: a matrix in FP8 in a rank's device memory, as cuBLASLt wants it: rows of multiples of 16
// bytes, of MXFP8 whole blocks, the columns behind the matrix's own being zero; and behind the rows
// the scales of MXFP8's blocks. It casts nothing.
#pragma once

#include <cstdint>

#include "runner/cuda/gemm.h"
#include "runner/cuda/memory_pool.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/mx_scales.h"
#include "runner/kernels/number.h"

namespace llmb::runner::cuda {

class Fp8Copy {
 public:
  // `type`: one of the FP8 formats, or MXFP8.
  void resize(MemoryPool& pool, NumberType type, std::int64_t rows, std::int64_t cols,
              PoolUse use) {
    type_ = type;
    rows_ = rows;
    cols_ = cols;
    block_.resize(pool, bytes(), use);
    const auto clear = [&](std::int64_t first, std::int64_t count) {
      fill_async(block_.data() + first, 0, static_cast<std::size_t>(count), pool.stream());
    };
    if (padded_cols() != cols) clear(0, element_bytes());
    const std::int64_t blocks = rows * (padded_cols() / kernels::kMxBlock);
    if (scale_bytes() > 0 && scale_bytes() != blocks) clear(element_bytes(), scale_bytes());
  }
  template <typename Fp8>
  kernels::Matrix<Fp8> matrix() {
    return {reinterpret_cast<Fp8*>(block_.data()), rows_, cols_, padded_cols()};
  }
  // With the zeros behind its columns.
  template <typename Fp8>
  kernels::Matrix<const Fp8> padded_matrix() const {
    return {reinterpret_cast<const Fp8*>(block_.data()), rows_, padded_cols(), padded_cols()};
  }
  // Of MXFP8's blocks (kernels/mx_scales.h).
  std::uint8_t* scales() const {
    return reinterpret_cast<std::uint8_t*>(block_.data()) + element_bytes();
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t bytes() const { return element_bytes() + scale_bytes(); }
  std::int64_t padded_cols() const { return padded(type_, cols_); }
  static std::int64_t padded(NumberType type, std::int64_t cols) {
    constexpr std::int64_t kRowMultiple = 16;
    const std::int64_t multiple = type == NumberType::mxfp8 ? kernels::kMxBlock : kRowMultiple;
    return (cols + multiple - 1) / multiple * multiple;
  }
  // `inverse` as GemmOperand's scale.
  GemmOperand operand(bool is_transposed, const float* inverse) const {
    GemmOperand operand{block_.data(), type_, padded_cols(), is_transposed, inverse};
    if (type_ == NumberType::mxfp8) operand.block_scales = scales();
    return operand;
  }

 private:
  std::int64_t element_bytes() const { return rows_ * padded_cols(); }
  std::int64_t scale_bytes() const {
    return type_ == NumberType::mxfp8 ? kernels::mx_scale_bytes(rows_, cols_) : 0;
  }

  PoolBlock block_;
  NumberType type_ = NumberType::fp8_e4m3;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
};

// One or both of the layouts, of one scale, or each with scales of its own blocks.
struct Fp8Copies {
  Fp8Copy as_it_lies;
  Fp8Copy transposed;
  const float* inverse = nullptr;
  std::int64_t inverse_stride = 0;  // Fp8Scale's
};

}  // namespace llmb::runner::cuda
