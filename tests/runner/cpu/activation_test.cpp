#include "runner/cpu/activation.h"

#include <gtest/gtest.h>

#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using parser::Activation;
using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;

double activate(Activation activation, std::vector<double> inputs) {
  double output = 0;
  const auto count = static_cast<std::int64_t>(inputs.size());
  ActivationFunction<double>::forward(activation, {inputs.data(), 1, count}, {&output, 1, 1});
  return output;
}

TEST(ActivationFunction, HasTheValuesOfTheFormulas) {
  EXPECT_NEAR(activate(Activation::swiglu, {1, 2}), 2 / (1 + std::exp(-1.0)), 1e-15);
  EXPECT_NEAR(activate(Activation::geglu, {1, 2}), 2 * 0.841192, 1e-6);
  EXPECT_EQ(activate(Activation::squared_relu, {3}), 9);
  EXPECT_EQ(activate(Activation::squared_relu, {-3}), 0);
}

TEST(ActivationFunction, HasTheGradientsOfFiniteDifferences) {
  for (const auto activation : {Activation::swiglu, Activation::geglu, Activation::squared_relu}) {
    const std::int64_t width = 5 * inputs_per_output(activation);
    Tensor<double> x = random_tensor(4, width, 1, -3, 3);
    for (double& value : x.values()) value += value > 0 ? 0.01 : -0.01;  // away from the kink
    const Tensor<double> dy = random_tensor(4, 5, 2);
    const auto loss = [&] {
      Tensor<double> y(4, 5);
      ActivationFunction<double>::forward(activation, x, y);
      return dot(y.values(), dy.values());
    };
    Tensor<double> dx(4, width);
    ActivationFunction<double>::backward(activation, x, dy, dx);
    expect_gradient(x.values(), dx.values(), loss, "dx");
  }
}

}  // namespace
}  // namespace llmb::runner::cpu
