// RMSNorm and LayerNorm1p: the kernels over the shim against the CPU's operations.
#include <gtest/gtest.h>

#include "runner/cpu/norm.h"
#include "runner/kernels/column_sum.h"
#include "runner/kernels/layer_norm_1p.h"
#include "runner/kernels/rms_norm.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using runner::testing::zeros;
using Numbers = cpu::Tensor<double>;

constexpr float kEpsilon = 0x1p-17F;  // exact in every type

struct Size {
  std::int64_t rows, cols, padding;
};
// Whole vectors; a tail; rows that begin anywhere; more rows than blocks.
constexpr Size kSizes[] = {{3, 256, 0}, {2, 2057, 7}, {5, 37, 0}, {1, 1, 0}, {258, 8, 8}};

template <typename T>
class Norm : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Norm, Types);

template <typename T>
Numbers sum_as_kept(const Numbers& a, const Numbers& b) {
  Numbers sum(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.size(); ++i) {
    sum.data()[i] = static_cast<double>(rounded<T>(static_cast<float>(a.data()[i] + b.data()[i])));
  }
  return sum;
}

TYPED_TEST(Norm, OfRootMeanSquareAddsTheBranchAndNormalizes) {
  using T = TypeParam;
  for (const auto& [rows, cols, padding] : kSizes) {
    DeviceValues<T> x(random_tensor(rows, cols, 1), padding);
    DeviceValues<T> branch(random_tensor(rows, cols, 2), padding);
    DeviceValues<T> weight(random_tensor(1, cols, 3, 0.5, 1.5));
    const Numbers sum_expected = sum_as_kept<T>(x.numbers(), branch.numbers());
    Numbers y_expected(rows, cols);
    Numbers scale_expected(rows, 1);
    cpu::RmsNorm<double>::forward(sum_expected, weight.numbers().values(), kEpsilon, y_expected,
                                  scale_expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> sum(rows, cols, padding);
      DeviceValues<T> y(rows, cols, padding);
      DeviceValues<float> scale(rows, 1);
      rms_norm_forward<T>({x.matrix(), branch.matrix(), weight.data(), kEpsilon, sum.matrix(),
                           y.matrix(), scale.data()},
                          nullptr);
      expect_close(sum.numbers(), sum_expected, 0, "sum");
      expect_close(y.numbers(), y_expected, kTolerance<T>, "y");
      expect_close(scale.numbers(), scale_expected, kTolerance<float>, "scale");
    }
  }
}

TYPED_TEST(Norm, OfRootMeanSquareGoesBackAndAddsWhatGoesPast) {
  using T = TypeParam;
  for (const auto& [rows, cols, padding] : kSizes) {
    DeviceValues<T> x(random_tensor(rows, cols, 1), padding);
    DeviceValues<T> weight(random_tensor(1, cols, 3, 0.5, 1.5));
    DeviceValues<T> dy(random_tensor(rows, cols, 4), padding);
    DeviceValues<T> bypass(random_tensor(rows, cols, 5), padding);
    const Numbers dweight_before = random_tensor(1, cols, 6);
    Numbers y(rows, cols);
    Numbers scale_numbers(rows, 1);
    cpu::RmsNorm<double>::forward(x.numbers(), weight.numbers().values(), kEpsilon, y,
                                  scale_numbers);
    DeviceValues<float> scale(scale_numbers);
    Numbers dx_expected(rows, cols);
    Numbers dweight_expected = DeviceValues<float>(dweight_before).numbers();
    cpu::RmsNorm<double>::backward(x.numbers(), weight.numbers().values(), scale_numbers,
                                   dy.numbers(), dx_expected, dweight_expected.values());
    const Numbers bypass_numbers = bypass.numbers();
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      dx_expected.data()[i] += bypass_numbers.data()[i];
    }
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> dx(rows, cols, padding);
      DeviceValues<float> dweight(dweight_before);
      DeviceValues<float> partials(partial_rows(rows), cols);
      rms_norm_backward<T>({x.matrix(), weight.data(), scale.data(), dy.matrix(), bypass.matrix(),
                            dx.matrix(), dweight.data(), partials.data()},
                           nullptr);
      expect_close(dx.numbers(), dx_expected, kTolerance<T>, "dx");
      expect_close(dweight.numbers(), dweight_expected, kTolerance<float>, "dweight");
    }
  }
}

TYPED_TEST(Norm, OfMeanAndDeviationAddsTheBranchAndNormalizes) {
  using T = TypeParam;
  for (const auto& [rows, cols, padding] : kSizes) {
    DeviceValues<T> x(random_tensor(rows, cols, 1, -1, 2), padding);
    DeviceValues<T> branch(random_tensor(rows, cols, 2), padding);
    DeviceValues<T> weight(random_tensor(1, cols, 3, -0.5, 0.5));
    DeviceValues<T> bias(random_tensor(1, cols, 7));
    const Numbers sum_expected = sum_as_kept<T>(x.numbers(), branch.numbers());
    Numbers y_expected(rows, cols);
    Numbers statistics_expected(rows, 2);
    cpu::LayerNorm1p<double>::forward(sum_expected, weight.numbers().values(),
                                      bias.numbers().values(), kEpsilon, y_expected,
                                      statistics_expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> sum(rows, cols, padding);
      DeviceValues<T> y(rows, cols, padding);
      DeviceValues<float> statistics(rows, 2);
      layer_norm_1p_forward<T>({x.matrix(), branch.matrix(), weight.data(), bias.data(), kEpsilon,
                                sum.matrix(), y.matrix(), statistics.data()},
                               nullptr);
      expect_close(sum.numbers(), sum_expected, 0, "sum");
      expect_close(y.numbers(), y_expected, kTolerance<T>, "y");
      expect_close(statistics.numbers(), statistics_expected, kTolerance<float>, "statistics");
    }
  }
}

TYPED_TEST(Norm, OfMeanAndDeviationGoesBackAndAddsWhatGoesPast) {
  using T = TypeParam;
  for (const auto& [rows, cols, padding] : kSizes) {
    DeviceValues<T> x(random_tensor(rows, cols, 1, -1, 2), padding);
    DeviceValues<T> weight(random_tensor(1, cols, 3, -0.5, 0.5));
    DeviceValues<T> dy(random_tensor(rows, cols, 4), padding);
    DeviceValues<T> bypass(random_tensor(rows, cols, 5), padding);
    Numbers y(rows, cols);
    Numbers statistics_numbers(rows, 2);
    cpu::LayerNorm1p<double>::forward(x.numbers(), weight.numbers().values(),
                                      weight.numbers().values(), kEpsilon, y, statistics_numbers);
    DeviceValues<float> statistics(statistics_numbers);
    Numbers dx_expected(rows, cols);
    Numbers dweight_expected = zeros(1, cols);
    Numbers dbias_expected = zeros(1, cols);
    cpu::LayerNorm1p<double>::backward(x.numbers(), weight.numbers().values(), statistics_numbers,
                                       dy.numbers(), dx_expected, dweight_expected.values(),
                                       dbias_expected.values());
    const Numbers bypass_numbers = bypass.numbers();
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      dx_expected.data()[i] += bypass_numbers.data()[i];
    }
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> dx(rows, cols, padding);
      DeviceValues<float> dweight(zeros(1, cols));
      DeviceValues<float> dbias(zeros(1, cols));
      DeviceValues<float> partials(2 * partial_rows(rows), cols);
      layer_norm_1p_backward<T>(
          {x.matrix(), weight.data(), statistics.data(), dy.matrix(), bypass.matrix(), dx.matrix(),
           dweight.data(), dbias.data(), partials.data()},
          nullptr);
      expect_close(dx.numbers(), dx_expected, kTolerance<T>, "dx");
      expect_close(dweight.numbers(), dweight_expected, kTolerance<float>, "dweight");
      expect_close(dbias.numbers(), dbias_expected, kTolerance<float>, "dbias");
    }
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
