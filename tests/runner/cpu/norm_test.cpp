#include "runner/cpu/norm.h"

#include <gtest/gtest.h>

#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;
using testing::zeros;

constexpr double kEpsilon = 1e-5;

TEST(RmsNorm, GivesRowsOfUnitMeanSquare) {
  const Tensor<double> x = random_tensor(3, 8, 1);
  const std::vector<double> ones(8, 1);
  Tensor<double> y(3, 8);
  Tensor<double> scale(3, 1);
  RmsNorm<double>::forward(x, ones, 0, y, scale);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto row = y.view().slice(i, 1).values();
    EXPECT_NEAR(dot(row, row), 8, 1e-12);
  }
}

TEST(RmsNorm, HasTheGradientsOfFiniteDifferences) {
  Tensor<double> x = random_tensor(4, 6, 1);
  Tensor<double> weight = random_tensor(1, 6, 2, 0.5, 1.5);
  const Tensor<double> dy = random_tensor(4, 6, 3);
  Tensor<double> y(4, 6);
  Tensor<double> scale(4, 1);
  const auto loss = [&] {
    RmsNorm<double>::forward(x, weight.values(), kEpsilon, y, scale);
    return dot(y.values(), dy.values());
  };
  loss();
  Tensor<double> dx(4, 6);
  Tensor<double> dweight = zeros(1, 6);
  RmsNorm<double>::backward(x, weight.values(), scale, dy, dx, dweight.values());
  expect_gradient(x.values(), dx.values(), loss, "dx");
  expect_gradient(weight.values(), dweight.values(), loss, "dweight");
}

TEST(LayerNorm1p, GivesRowsOfNoMeanAndUnitVarianceAtZeroWeight) {
  const Tensor<double> x = random_tensor(3, 8, 1, 2, 5);
  const std::vector<double> none(8, 0);
  Tensor<double> y(3, 8);
  Tensor<double> statistics(3, 2);
  LayerNorm1p<double>::forward(x, none, none, 0, y, statistics);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto row = y.view().slice(i, 1).values();
    EXPECT_NEAR(dot(row, std::vector<double>(8, 1)), 0, 1e-12);
    EXPECT_NEAR(dot(row, row), 8, 1e-12);
  }
}

TEST(LayerNorm1p, HasTheGradientsOfFiniteDifferences) {
  Tensor<double> x = random_tensor(4, 6, 1);
  Tensor<double> weight = random_tensor(1, 6, 2, -0.5, 0.5);
  Tensor<double> bias = random_tensor(1, 6, 4);
  const Tensor<double> dy = random_tensor(4, 6, 3);
  Tensor<double> y(4, 6);
  Tensor<double> statistics(4, 2);
  const auto loss = [&] {
    LayerNorm1p<double>::forward(x, weight.values(), bias.values(), kEpsilon, y, statistics);
    return dot(y.values(), dy.values());
  };
  loss();
  Tensor<double> dx(4, 6);
  Tensor<double> dweight = zeros(1, 6);
  Tensor<double> dbias = zeros(1, 6);
  LayerNorm1p<double>::backward(x, weight.values(), statistics, dy, dx, dweight.values(),
                                dbias.values());
  expect_gradient(x.values(), dx.values(), loss, "dx");
  expect_gradient(weight.values(), dweight.values(), loss, "dweight");
  expect_gradient(bias.values(), dbias.values(), loss, "dbias");
}

}  // namespace
}  // namespace llmb::runner::cpu
