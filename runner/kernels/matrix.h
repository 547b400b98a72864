// Matrix: rows and columns of device memory without ownership, row-major, with a stride between
// rows, so that a slice of columns is one too. What kernels take and the host passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runner/kernels/portable.h"

namespace llmb::runner::kernels {

template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;  // elements from one row to the next, at least cols

  Matrix() = default;
  LLMB_BOTH Matrix(T* begin, std::int64_t row_count, std::int64_t col_count)
      : Matrix(begin, row_count, col_count, col_count) {}
  LLMB_BOTH Matrix(T* begin, std::int64_t row_count, std::int64_t col_count,
                   std::int64_t row_stride)
      : data(begin), rows(row_count), cols(col_count), stride(row_stride) {}

  LLMB_BOTH T* row(std::int64_t index) const { return data + index * stride; }
  LLMB_BOTH std::int64_t size() const { return rows * cols; }
  LLMB_BOTH bool is_given() const { return data != nullptr; }
  Matrix columns(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }

  // Whoever may write may read. NOLINTNEXTLINE(google-explicit-constructor)
  template <typename U, typename = std::enable_if_t<!std::is_same_v<U, T>>>
  LLMB_BOTH Matrix(const Matrix<U>& other)
      : Matrix(other.data, other.rows, other.cols, other.stride) {
    static_assert(std::is_same_v<const U, T>, "only const may be added");
  }
};

// Whether every row begins at a multiple of 16 bytes, so that 128-bit accesses are allowed. Absent
// matrices and vectors are no obstacle.
template <typename T>
bool is_aligned(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}
template <typename T>
bool is_aligned(const Matrix<T>& matrix) {
  const bool rows_are =
      matrix.rows <= 1 || static_cast<std::size_t>(matrix.stride) * sizeof(T) % 16 == 0;
  return is_aligned(matrix.data) && rows_are;
}
template <typename... Operands>
bool are_aligned(const Operands&... operands) {
  return (is_aligned(operands) && ...);
}

}  // namespace llmb::runner::kernels
