// Gradients against central differences in double precision. The stencil has four points, so its
// own error is of the fourth order in the step, far below what the tests allow.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "runner/cpu/tensor.h"

namespace llmb::runner::testing {

// Uniform in [low, high), the same on every machine.
inline void fill_random(std::span<double> values, std::uint32_t seed, double low = -1,
                        double high = 1) {
  std::mt19937 engine(seed);
  for (double& value : values) {
    value = low + (high - low) * (static_cast<double>(engine()) / 4294967296.0);
  }
}

inline cpu::Tensor<double> random_tensor(std::int64_t rows, std::int64_t cols, std::uint32_t seed,
                                         double low = -1, double high = 1) {
  cpu::Tensor<double> tensor(rows, cols);
  fill_random(tensor.values(), seed, low, high);
  return tensor;
}

inline cpu::Tensor<double> zeros(std::int64_t rows, std::int64_t cols) {
  cpu::Tensor<double> tensor(rows, cols);
  tensor.fill(0);
  return tensor;
}

inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// d loss() / d value, by changing the value and putting it back.
inline double central_difference(double& value, const std::function<double()>& loss,
                                 double step = 1e-3) {
  const double at = value;
  const auto loss_at = [&](double offset) {
    value = at + offset;
    return loss();
  };
  const double near = loss_at(step) - loss_at(-step);
  const double far = loss_at(2 * step) - loss_at(-2 * step);
  value = at;
  return (8 * near - far) / (12 * step);
}

// Every element: relative error below 1e-6, of the element or, where it is smaller, of a
// hundredth of the largest.
inline void expect_gradient(std::span<double> values, std::span<const double> gradient,
                            const std::function<double()>& loss, const char* what) {
  ASSERT_EQ(values.size(), gradient.size()) << what;
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::fabs(g));
  EXPECT_GT(largest, 0) << what << ": a gradient of zeros proves nothing";
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = central_difference(values[i], loss);
    const double scale = std::max(std::fabs(expected), largest / 100);
    EXPECT_LT(std::fabs(gradient[i] - expected) / scale, 1e-6)
        << what << "[" << i << "]: " << gradient[i] << " instead of " << expected;
  }
}

}  // namespace llmb::runner::testing
