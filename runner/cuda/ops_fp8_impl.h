// The definitions of ops.h for products of FP8 operands: included by ops_instances.cpp only.
// Such a product takes both operands with what it sums over along their rows: a matrix is cast as
// it lies, transposed, or both from one read.
#pragma once

#include <cstdint>

#include "runner/cuda/ops.h"
#include "runner/cuda/ops_operands.h"
#include "runner/kernels/quantize.h"

namespace llmb::runner::cuda {
namespace detail {

// Of a row's bytes: what cuBLASLt wants of FP8.
inline constexpr std::int64_t kFp8RowMultiple = 16;

inline std::int64_t padded(std::int64_t count) {
  return (count + kFp8RowMultiple - 1) / kFp8RowMultiple * kFp8RowMultiple;
}

// (rows, cols) in FP8, columns of zeros up to the next multiple of 16 behind them.
template <typename Fp8>
class Fp8Copy {
 public:
  void resize(MemoryPool& pool, std::int64_t rows, std::int64_t cols, Stream stream) {
    cols_ = cols;
    storage_.resize(pool, rows, padded(cols));
    if (storage_.cols() == cols) return;
    fill_async(storage_.data(), 0, static_cast<std::size_t>(storage_.size()), stream);
  }
  Matrix<Fp8> matrix() { return {storage_.data(), storage_.rows(), cols_, storage_.cols()}; }
  std::int64_t rows() const { return storage_.rows(); }
  std::int64_t padded_cols() const { return storage_.cols(); }
  GemmOperand operand(bool is_transposed, const float* inverse) const {
    return {storage_.data(), number_type_of<Fp8>(), storage_.cols(), is_transposed, inverse};
  }

 private:
  Tensor<Fp8> storage_;
  std::int64_t cols_ = 0;
};

// One or both of the layouts, of one scale.
template <typename Fp8>
struct Fp8Copies {
  Fp8Copy<Fp8> as_it_lies;
  Fp8Copy<Fp8> transposed;
  const float* inverse = nullptr;
};

enum class Fp8Layouts : std::uint8_t { as_it_lies, transposed, both };

template <typename Fp8, typename T>
Fp8Copies<Fp8> fp8_copies(MemoryPool& pool, View<const T> x, const Fp8Scale& scale,
                          Fp8Layouts layouts, Stream stream) {
  Fp8Copies<Fp8> copies;
  copies.inverse = scale.inverse;
  kernels::Cast<T, Fp8> cast;
  cast.x = matrix(x);
  cast.scale = scale.scale;
  if (layouts != Fp8Layouts::transposed) {
    copies.as_it_lies.resize(pool, x.rows, x.cols, stream);
    cast.y = copies.as_it_lies.matrix();
  }
  if (layouts != Fp8Layouts::as_it_lies) {
    copies.transposed.resize(pool, x.cols, x.rows, stream);
    cast.transposed = copies.transposed.matrix();
  }
  if (scale.is_delayed) {
    cast.largest = scale.largest;
  } else {
    fill_async(scale.largest, 0, sizeof(float), stream);
    kernels::absolute_max<T>(cast.x, scale.largest, stream);
    kernels::fp8_scale(scale.largest, kernels::kFp8Max<Fp8>, scale.scale, scale.inverse, stream);
  }
  kernels::cast(cast, stream);
  return copies;
}

// d = a b^T (+ d), summed over the padded columns of both.
template <typename A, typename B, typename Result>
Gemm fp8_product(const Fp8Copy<A>& a, const float* a_inverse, const Fp8Copy<B>& b,
                 const float* b_inverse, View<Result> d, float beta) {
  return product(a.rows(), b.rows(), a.padded_cols(), a.operand(false, a_inverse),
                 b.operand(true, b_inverse), d, beta);
}

}  // namespace detail

template <typename T>
void Ops<T>::fp8_linear(const Fp8Input& x, const Fp8Input& weight, Out y) {
  const OpRange op = range("fp8_linear.forward");
  using detail::Fp8Layouts;
  if (y.rows == 0) {
    // The weight counts in its history, whether or not a row came to its expert.
    if (weight.scale.is_delayed) {
      kernels::absolute_max<T>(detail::matrix(weight.values), weight.scale.largest, stream());
    }
    return;
  }
  const auto input = detail::fp8_copies<kernels::Fp8E4m3>(*this, x.values, x.scale,
                                                          Fp8Layouts::as_it_lies, stream());
  const auto matrix = detail::fp8_copies<kernels::Fp8E4m3>(*this, weight.values, weight.scale,
                                                           Fp8Layouts::as_it_lies, stream());
  multiply(detail::fp8_product(input.as_it_lies, input.inverse, matrix.as_it_lies, matrix.inverse,
                               y, 0));
}

template <typename T>
void Ops<T>::fp8_linear_backward(const Fp8Input& x, const Fp8Input& dy, const Fp8Input& weight,
                                 Out dx, Gradients dweight) {
  const OpRange op = range("fp8_linear.backward");
  using detail::Fp8Layouts;
  if (dx.rows == 0) return;
  const auto gradient =
      detail::fp8_copies<kernels::Fp8E5m2>(*this, dy.values, dy.scale, Fp8Layouts::both, stream());
  {
    const auto matrix = detail::fp8_copies<kernels::Fp8E4m3>(*this, weight.values, weight.scale,
                                                             Fp8Layouts::transposed, stream());
    multiply(detail::fp8_product(gradient.as_it_lies, gradient.inverse, matrix.transposed,
                                 matrix.inverse, dx, 0));
  }
  const auto input = detail::fp8_copies<kernels::Fp8E4m3>(*this, x.values, x.scale,
                                                          Fp8Layouts::transposed, stream());
  multiply(detail::fp8_product(gradient.transposed, gradient.inverse, input.transposed,
                               input.inverse, dweight, 1));
}

}  // namespace llmb::runner::cuda
