#include <cassert>
#include <cmath>

#include "runner/cpu/norm.h"
#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void LayerNorm1p<T>::forward(View<const T> x, std::span<const T> weight, std::span<const T> bias,
                             T epsilon, View<T> y, View<T> statistics) {
  const OpTimer timer("layer_norm_1p.forward");
  assert(statistics.rows == x.rows && statistics.cols == 2);
  const T count = static_cast<T>(x.cols);
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x_row = x.row(i);
      T sum = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) sum += x_row[j];
      const T mean = sum / count;
      T squares = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) squares += (x_row[j] - mean) * (x_row[j] - mean);
      const T factor = 1 / std::sqrt(squares / count + epsilon);
      statistics.row(i)[0] = mean;
      statistics.row(i)[1] = factor;
      for (std::int64_t j = 0; j < x.cols; ++j) {
        y.row(i)[j] = (x_row[j] - mean) * factor * (1 + weight[j]) + bias[j];
      }
    }
  });
}

// With n = (x - mean) s and g = (1 + w) dy: dx = s (g - mean(g) - n mean(g n)).
template <typename T>
void LayerNorm1p<T>::backward(View<const T> x, std::span<const T> weight, View<const T> statistics,
                              View<const T> dy, View<T> dx, std::span<T> dweight,
                              std::span<T> dbias) {
  const OpTimer timer("layer_norm_1p.backward");
  const T count = static_cast<T>(x.cols);
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x_row = x.row(i);
      const T* dy_row = dy.row(i);
      const T mean = statistics.row(i)[0];
      const T factor = statistics.row(i)[1];
      T sum = 0;
      T dot = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) {
        const T gradient = (1 + weight[j]) * dy_row[j];
        sum += gradient;
        dot += gradient * (x_row[j] - mean) * factor;
      }
      for (std::int64_t j = 0; j < x.cols; ++j) {
        const T gradient = (1 + weight[j]) * dy_row[j];
        const T normal = (x_row[j] - mean) * factor;
        dx.row(i)[j] = factor * (gradient - sum / count - normal * dot / count);
      }
    }
  });
  parallel_for(x.cols, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const T mean = statistics.row(i)[0];
      const T factor = statistics.row(i)[1];
      for (std::int64_t j = begin; j < end; ++j) {
        dweight[j] += dy.row(i)[j] * (x.row(i)[j] - mean) * factor;
        dbias[j] += dy.row(i)[j];
      }
    }
  });
}

template struct LayerNorm1p<float>;
template struct LayerNorm1p<double>;

}  // namespace llmb::runner::cpu
