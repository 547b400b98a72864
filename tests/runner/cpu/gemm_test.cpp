#include "runner/cpu/gemm.h"

#include <gtest/gtest.h>

#include "runner/cpu/linear.h"
#include "runner/cpu/parallel_for.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;
using testing::zeros;

TEST(Gemm, EqualsSumsWrittenOut) {
  const std::int64_t m = 7;
  const std::int64_t n = 5;
  const std::int64_t k = 9;
  for (int variant = 0; variant < 4; ++variant) {
    const bool a_t = (variant & 1) != 0;
    const bool b_t = (variant & 2) != 0;
    const Tensor<double> a = random_tensor(a_t ? k : m, (a_t ? m : k) + 2, 1);
    const Tensor<double> b = random_tensor(b_t ? n : k, (b_t ? k : n) + 1, 2);
    Tensor<double> c = random_tensor(m, n + 3, 3);
    Tensor<double> plain = c;
    const Tensor<double> before = c;
    gemm<double>(m, n, k, 0.5, {a.data(), a.cols(), a_t}, {b.data(), b.cols(), b_t}, 2.0, c.data(),
                 c.cols());
    plain_gemm<double>(m, n, k, 0.5, {a.data(), a.cols(), a_t}, {b.data(), b.cols(), b_t}, 2.0,
                       plain.data(), c.cols());
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          sum += a.view().row(a_t ? p : i)[a_t ? i : p] * b.view().row(b_t ? j : p)[b_t ? p : j];
        }
        const double expected = 0.5 * sum + 2.0 * before.view().row(i)[j];
        EXPECT_NEAR(c.view().row(i)[j], expected, 1e-13);
        EXPECT_NEAR(plain.view().row(i)[j], expected, 1e-13);
      }
      for (std::int64_t j = n; j < c.cols(); ++j) {  // beyond n, nothing is touched
        EXPECT_EQ(c.view().row(i)[j], before.view().row(i)[j]);
      }
    }
  }
}

TEST(Gemm, TakesNothingForAnAnswer) {
  std::vector<float> c = {1, 2};
  const std::vector<float> nothing(1);
  gemm<float>(1, 2, 0, 1.0F, {nothing.data(), 1}, {nothing.data(), 2}, 0.0F, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0}));
  gemm<float>(0, 2, 3, 1.0F, {nothing.data(), 3}, {nothing.data(), 2}, 0.0F, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0}));
}

TEST(Gemm, DoesNotChangeABitWithTheNumberOfThreads) {
  const Tensor<double> wide_a = random_tensor(1300, 40, 4);
  const Tensor<double> wide_b = random_tensor(40, 24, 5);
  const std::vector<float> a(wide_a.values().begin(), wide_a.values().end());
  const std::vector<float> b(wide_b.values().begin(), wide_b.values().end());
  const auto product = [&](int threads) {
    set_threads_per_rank(threads);
    std::vector<float> c(std::size_t{1300} * 24);
    gemm<float>(1300, 24, 40, 1.0F, {a.data(), 40}, {b.data(), 24}, 0.0F, c.data(), 24);
    set_threads_per_rank(1);
    return c;
  };
  const std::vector<float> alone = product(1);
  EXPECT_EQ(alone, product(2));
  EXPECT_EQ(alone, product(3));
}

TEST(Linear, HasTheGradientsOfFiniteDifferences) {
  Tensor<double> x = random_tensor(4, 6, 1);
  Tensor<double> weight = random_tensor(5, 6, 2);
  const Tensor<double> dy = random_tensor(4, 5, 3);
  const auto loss = [&] {
    Tensor<double> y(4, 5);
    Linear<double>::forward(x, weight, y);
    return dot(y.values(), dy.values());
  };
  Tensor<double> dx(4, 6);
  Tensor<double> dweight = zeros(5, 6);
  Linear<double>::backward_input(dy, weight, dx);
  Linear<double>::backward_weight(x, dy, dweight);
  expect_gradient(x.values(), dx.values(), loss, "dx");
  expect_gradient(weight.values(), dweight.values(), loss, "dweight");

  const Tensor<double> once = dx;
  Linear<double>::backward_input(dy, weight, dx, true);
  for (std::int64_t i = 0; i < dx.size(); ++i) {
    // The terms may be added one by one to what was there.
    EXPECT_NEAR(dx.data()[i], 2 * once.data()[i], 1e-14);
  }
}

TEST(GroupedLinear, HasTheGradientsOfFiniteDifferences) {
  const std::vector<std::int64_t> rows_of_expert = {3, 0, 2};
  Tensor<double> x = random_tensor(5, 4, 1);
  Tensor<double> weight = random_tensor(6, 4, 2);
  const Tensor<double> dy = random_tensor(5, 2, 3);
  const auto loss = [&] {
    Tensor<double> y(5, 2);
    GroupedLinear<double>::forward(rows_of_expert, x, weight, y);
    return dot(y.values(), dy.values());
  };
  Tensor<double> dx(5, 4);
  Tensor<double> dweight = zeros(6, 4);
  GroupedLinear<double>::backward_input(rows_of_expert, dy, weight, dx);
  GroupedLinear<double>::backward_weight(rows_of_expert, x, dy, dweight);
  expect_gradient(x.values(), dx.values(), loss, "dx");
  expect_gradient(weight.values(), dweight.values(), loss, "dweight");
}

}  // namespace
}  // namespace llmb::runner::cpu
