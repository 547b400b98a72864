// How the operations' views become the operands of kernels and products. Included by the
// definitions of ops.h only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runner/cuda/gemm.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/operation/view.h"

namespace llmb::runner::cuda::detail {

using kernels::Matrix;

template <typename E>
Matrix<E> matrix(View<E> view) {
  return {view.data, view.rows, view.cols};
}
// An operand without gaps.
template <typename E>
GemmOperand operand(View<E> view, bool is_transposed) {
  return {view.data, number_type_of<std::remove_const_t<E>>(), view.cols, is_transposed, nullptr};
}

template <typename Result>
Gemm product(std::int64_t m, std::int64_t n, std::int64_t k, const GemmOperand& a,
             const GemmOperand& b, View<Result> d, float beta) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = a;
  gemm.b = b;
  gemm.d = d.data;
  gemm.d_type = number_type_of<Result>();
  gemm.d_stride = n;
  gemm.beta = beta;
  return gemm;
}

// The three products of a linear layer, as gemm.h writes them.
template <typename T, typename Result>
Gemm forward_product(View<const T> x, View<const T> weight, View<Result> y) {
  return product(x.rows, weight.rows, x.cols, operand(x, false), operand(weight, true), y, 0);
}
template <typename T>
Gemm input_product(View<const T> dy, View<const T> weight, View<T> dx, float beta) {
  return product(dy.rows, weight.cols, weight.rows, operand(dy, false), operand(weight, false), dx,
                 beta);
}
template <typename T>
Gemm weight_product(View<const T> x, View<const T> dy, View<float> dweight) {
  return product(dy.cols, x.cols, x.rows, operand(dy, true), operand(x, false), dweight, 1);
}

}  // namespace llmb::runner::cuda::detail
