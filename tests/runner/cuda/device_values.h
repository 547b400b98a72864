// DeviceValues: a matrix as kernels take it, of float or Bf16, filled from doubles or poisoned, and
// the comparison of what a kernel left in it with what the CPU's operation in double precision
// says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runner/cpu/tensor.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/simt/block_runner.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::testing {

using kernels::Bf16;
using kernels::Matrix;

template <typename T>
class DeviceValues {
 public:
  // Poisoned: what a kernel does not write is NaN. `padding` elements part the rows.
  DeviceValues(std::int64_t rows, std::int64_t cols, std::int64_t padding = 0)
      : rows_(rows), cols_(cols), stride_(cols + padding) {
    values_.resize(static_cast<std::size_t>(rows * stride_),
                   kernels::from_float<T>(std::numeric_limits<float>::quiet_NaN()));
  }
  // What T keeps of the numbers.
  explicit DeviceValues(const cpu::Tensor<double>& numbers, std::int64_t padding = 0)
      : DeviceValues(numbers.rows(), numbers.cols(), padding) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        values_[static_cast<std::size_t>(i * stride_ + j)] =
            kernels::from_float<T>(static_cast<float>(numbers.view().row(i)[j]));
      }
    }
  }

  Matrix<T> matrix() { return {values_.data(), rows_, cols_, stride_}; }
  T* data() { return values_.data(); }

  // As the CPU's operations take them.
  cpu::Tensor<double> numbers() const {
    cpu::Tensor<double> result(rows_, cols_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        result.view().row(i)[j] = static_cast<double>(
            kernels::to_float(values_[static_cast<std::size_t>(i * stride_ + j)]));
      }
    }
    return result;
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t stride_;
  std::vector<T> values_;
};

// Relative to the element, or where that is smaller to the root of the mean square.
template <typename T>
inline constexpr double kTolerance = 2e-5;
template <>
inline constexpr double kTolerance<Bf16> = 8e-3;  // two units in the last place

// The largest relative difference is what is told.
inline void expect_close(const cpu::Tensor<double>& actual, const cpu::Tensor<double>& expected,
                         double tolerance, const char* what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  if (expected.size() == 0) return;
  const double mean_square =
      dot(expected.values(), expected.values()) / static_cast<double>(expected.size());
  double largest = 0;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double scale = std::max(std::fabs(expected.data()[i]), std::sqrt(mean_square));
    const double difference = std::fabs(actual.data()[i] - expected.data()[i]);
    const double relative = difference == 0 ? 0 : difference / scale;
    if (!(relative <= largest)) {  // NaN too
      largest = relative;
      at = i;
      if (std::isnan(relative)) break;
    }
  }
  EXPECT_LE(largest, tolerance) << what << "[" << at / expected.cols() << ", "
                                << at % expected.cols() << "] is " << actual.data()[at]
                                << " instead of " << expected.data()[at];
  ::testing::Test::RecordProperty(what, std::to_string(largest));
}

// The orders of lanes and blocks that every kernel is run in.
inline constexpr std::uint64_t kSeeds[] = {1, 2, 3};

}  // namespace llmb::runner::testing
