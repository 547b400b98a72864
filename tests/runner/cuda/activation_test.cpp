// SwiGLU, GeGLU and squared ReLU: the kernels over the shim against the CPU's operations.
#include <gtest/gtest.h>

#include "runner/cpu/activation.h"
#include "runner/kernels/activation.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;

struct Case {
  ActivationKind kind;
  parser::Activation on_cpu;
};
constexpr Case kCases[] = {{ActivationKind::swiglu, parser::Activation::swiglu},
                           {ActivationKind::geglu, parser::Activation::geglu},
                           {ActivationKind::squared_relu, parser::Activation::squared_relu}};
struct Size {
  std::int64_t rows, cols, padding;
};
constexpr Size kSizes[] = {{3, 64, 0}, {2, 2057, 7}, {2, 36, 4}};

template <typename T>
class Activation : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Activation, Types);

TYPED_TEST(Activation, GivesWhatTheCpuGives) {
  using T = TypeParam;
  for (const auto& [kind, on_cpu] : kCases) {
    for (const auto& [rows, cols, padding] : kSizes) {
      const std::int64_t inputs = cols * cpu::inputs_per_output(on_cpu);
      DeviceValues<T> x(random_tensor(rows, inputs, 1, -4, 4), padding);
      DeviceValues<T> dy(random_tensor(rows, cols, 2), padding);
      Numbers y_expected(rows, cols);
      Numbers dx_expected(rows, inputs);
      cpu::ActivationFunction<double>::forward(on_cpu, x.numbers(), y_expected);
      cpu::ActivationFunction<double>::backward(on_cpu, x.numbers(), dy.numbers(), dx_expected);
      for (const auto seed : kSeeds) {
        simt::set_order_seed(seed);
        DeviceValues<T> y(rows, cols, padding);
        DeviceValues<T> dx(rows, inputs, padding);
        activation_forward<T>({kind, x.matrix(), y.matrix()}, nullptr);
        activation_backward<T>({kind, x.matrix(), dy.matrix(), dx.matrix()}, nullptr);
        expect_close(y.numbers(), y_expected, kTolerance<T>, "y");
        expect_close(dx.numbers(), dx_expected, kTolerance<T>, "dx");
      }
    }
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
