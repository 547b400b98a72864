#include <cassert>
#include <cmath>

#include "runner/cpu/norm.h"
#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void RmsNorm<T>::forward(View<const T> x, std::span<const T> weight, T epsilon, View<T> y,
                         View<T> scale) {
  const OpTimer timer("rms_norm.forward");
  assert(static_cast<std::int64_t>(weight.size()) == x.cols && scale.rows == x.rows);
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x_row = x.row(i);
      T squares = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) squares += x_row[j] * x_row[j];
      const T factor = 1 / std::sqrt(squares / static_cast<T>(x.cols) + epsilon);
      scale.data[i] = factor;
      for (std::int64_t j = 0; j < x.cols; ++j) y.row(i)[j] = x_row[j] * factor * weight[j];
    }
  });
}

// With n = x s, s the scale: dx = s (w dy - n mean(w dy n)).
template <typename T>
void RmsNorm<T>::backward(View<const T> x, std::span<const T> weight, View<const T> scale,
                          View<const T> dy, View<T> dx, std::span<T> dweight) {
  const OpTimer timer("rms_norm.backward");
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x_row = x.row(i);
      const T* dy_row = dy.row(i);
      const T factor = scale.data[i];
      T dot = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) dot += weight[j] * dy_row[j] * x_row[j] * factor;
      dot /= static_cast<T>(x.cols);
      for (std::int64_t j = 0; j < x.cols; ++j) {
        dx.row(i)[j] = factor * (weight[j] * dy_row[j] - x_row[j] * factor * dot);
      }
    }
  });
  parallel_for(x.cols, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const T factor = scale.data[i];
      for (std::int64_t j = begin; j < end; ++j) dweight[j] += dy.row(i)[j] * x.row(i)[j] * factor;
    }
  });
}

template struct RmsNorm<float>;
template struct RmsNorm<double>;

}  // namespace llmb::runner::cpu
