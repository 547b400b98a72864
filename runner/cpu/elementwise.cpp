#include "runner/cpu/elementwise.h"

#include <algorithm>
#include <cassert>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {
constexpr std::int64_t kElementwiseBlock = 16384;
}

template <typename T>
void Elementwise<T>::add(View<const T> x, View<T> y) {
  const OpTimer timer("elementwise.add");
  assert(x.rows == y.rows && x.cols == y.cols);
  parallel_for(x.size(), kElementwiseBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y.data[i] += x.data[i];
  });
}

template <typename T>
void Elementwise<T>::sum(View<const T> a, View<const T> b, View<T> y) {
  const OpTimer timer("elementwise.sum");
  assert(a.size() == y.size() && b.size() == y.size());
  parallel_for(y.size(), kElementwiseBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y.data[i] = a.data[i] + b.data[i];
  });
}

template <typename T>
void Elementwise<T>::copy(View<const T> x, View<T> y) {
  const OpTimer timer("elementwise.copy");
  assert(x.size() == y.size());
  std::copy_n(x.data, x.size(), y.data);
}

template <typename T>
void Elementwise<T>::scale(T factor, View<const T> x, View<T> y) {
  const OpTimer timer("elementwise.scale");
  assert(x.size() == y.size());
  for (std::int64_t i = 0; i < x.size(); ++i) y.data[i] = factor * x.data[i];
}

template <typename T>
void Elementwise<T>::add_sum(View<const T> x, View<double> total) {
  const OpTimer timer("elementwise.add_sum");
  double sum = 0;
  for (const T value : x.values()) sum += static_cast<double>(value);
  *total.data += sum;
}

template struct Elementwise<float>;
template struct Elementwise<double>;

}  // namespace llmb::runner::cpu
