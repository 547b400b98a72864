#include "runner/cpu/linear.h"

#include <cassert>

#include "runner/cpu/gemm.h"
#include "runner/cpu/op_profile.h"

namespace llmb::runner::cpu {

template <typename T>
void Linear<T>::forward(View<const T> x, View<const T> weight, View<T> y) {
  const OpTimer timer("linear.forward");
  assert(x.cols == weight.cols && y.cols == weight.rows && y.rows == x.rows);
  gemm<T>(x.rows, weight.rows, x.cols, T(1), {x.data, x.cols}, {weight.data, weight.cols, true},
          T(0), y.data, y.cols);
}

template <typename T>
void Linear<T>::backward_input(View<const T> dy, View<const T> weight, View<T> dx,
                               bool accumulate) {
  const OpTimer timer("linear.backward_input");
  assert(dy.cols == weight.rows && dx.cols == weight.cols && dx.rows == dy.rows);
  gemm<T>(dy.rows, weight.cols, dy.cols, T(1), {dy.data, dy.cols}, {weight.data, weight.cols},
          accumulate ? T(1) : T(0), dx.data, dx.cols);
}

template <typename T>
void Linear<T>::backward_weight(View<const T> x, View<const T> dy, View<T> dweight) {
  const OpTimer timer("linear.backward_weight");
  assert(x.rows == dy.rows && dweight.rows == dy.cols && dweight.cols == x.cols);
  gemm<T>(dy.cols, x.cols, dy.rows, T(1), {dy.data, dy.cols, true}, {x.data, x.cols}, T(1),
          dweight.data, dweight.cols);
}

template <typename T>
void GroupedLinear<T>::forward(std::span<const std::int64_t> rows_of_expert, View<const T> x,
                               View<const T> weight, View<T> y) {
  const OpTimer timer("grouped_linear.forward");
  const std::int64_t out = y.cols;
  std::int64_t first = 0;
  std::int64_t expert = 0;
  for (const std::int64_t rows : rows_of_expert) {
    Linear<T>::forward(x.slice(first, rows), weight.slice(expert * out, out), y.slice(first, rows));
    first += rows;
    ++expert;
  }
  assert(first == x.rows);
}

template <typename T>
void GroupedLinear<T>::backward_input(std::span<const std::int64_t> rows_of_expert,
                                      View<const T> dy, View<const T> weight, View<T> dx) {
  const OpTimer timer("grouped_linear.backward_input");
  const std::int64_t out = dy.cols;
  std::int64_t first = 0;
  std::int64_t expert = 0;
  for (const std::int64_t rows : rows_of_expert) {
    Linear<T>::backward_input(dy.slice(first, rows), weight.slice(expert * out, out),
                              dx.slice(first, rows));
    first += rows;
    ++expert;
  }
  assert(first == dy.rows);
}

template <typename T>
void GroupedLinear<T>::backward_weight(std::span<const std::int64_t> rows_of_expert,
                                       View<const T> x, View<const T> dy, View<T> dweight) {
  const OpTimer timer("grouped_linear.backward_weight");
  const std::int64_t out = dy.cols;
  std::int64_t first = 0;
  std::int64_t expert = 0;
  for (const std::int64_t rows : rows_of_expert) {
    Linear<T>::backward_weight(x.slice(first, rows), dy.slice(first, rows),
                               dweight.slice(expert * out, out));
    first += rows;
    ++expert;
  }
  assert(first == x.rows);
}

template struct Linear<float>;
template struct Linear<double>;
template struct GroupedLinear<float>;
template struct GroupedLinear<double>;

}  // namespace llmb::runner::cpu
