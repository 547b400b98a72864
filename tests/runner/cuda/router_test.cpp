// Router, balance of load, and the rows of experts: kernels against the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "runner/cpu/expert_rows.h"
#include "runner/cpu/router.h"
#include "runner/kernels/expert_rows.h"
#include "runner/kernels/router.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;

using Choices = cpu::Tensor<std::int64_t>;

struct Case {
  RouterScoreKind score;
  cpu::RouterScore on_cpu;
  std::int64_t experts, top_k;
};
constexpr Case kCases[] = {
    {RouterScoreKind::softmax_of_all, cpu::RouterScore::softmax_of_all, 8, 2},
    {RouterScoreKind::softmax_of_chosen, cpu::RouterScore::softmax_of_chosen, 40, 3},
    {RouterScoreKind::sigmoid, cpu::RouterScore::sigmoid, 128, 1},
    {RouterScoreKind::softmax_of_chosen, cpu::RouterScore::softmax_of_chosen, 5, 5}};
constexpr std::int64_t kTokens = 37;

// With ties: logits are multiples of 1/8.
Numbers logits_for(const Case& one) {
  Numbers logits = random_tensor(kTokens, one.experts, 5, -4, 4);
  for (double& value : logits.values()) value = std::round(value * 8) / 8;
  return logits;
}

struct Oracle {
  Numbers probabilities, weights;
  Choices choices;

  explicit Oracle(const Case& one)
      : probabilities(kTokens, one.experts),
        weights(kTokens, one.top_k),
        choices(kTokens, one.top_k) {
    cpu::Router<double>::forward(one.on_cpu, logits_for(one), probabilities, choices, weights);
  }
  std::vector<std::int32_t> narrow_choices() const {
    return {choices.values().begin(), choices.values().end()};
  }
};

TEST(Router, ChoosesAndWeighs) {
  for (const Case& one : kCases) {
    const Oracle oracle(one);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<float> logits(logits_for(one));
      DeviceValues<float> probabilities(kTokens, one.experts);
      DeviceValues<float> weights(kTokens, one.top_k);
      std::vector<std::int32_t> choices(static_cast<std::size_t>(kTokens * one.top_k), -1);
      router_forward({one.score,
                      logits.matrix(),
                      probabilities.matrix(),
                      {choices.data(), kTokens, one.top_k},
                      weights.matrix()},
                     nullptr);
      EXPECT_EQ(choices, oracle.narrow_choices());
      expect_close(probabilities.numbers(), oracle.probabilities, kTolerance<float>, "p");
      expect_close(weights.numbers(), oracle.weights, kTolerance<float>, "weights");
    }
  }
}

TEST(Router, GoesBack) {
  for (const Case& one : kCases) {
    const Oracle oracle(one);
    const std::vector<std::int32_t> choices = oracle.narrow_choices();
    DeviceValues<float> probabilities(oracle.probabilities);
    DeviceValues<float> weights(oracle.weights);
    DeviceValues<float> dweights(random_tensor(kTokens, one.top_k, 6));
    DeviceValues<float> dprobability(random_tensor(1, one.experts, 7));
    Numbers scaled = dprobability.numbers();
    for (double& value : scaled.values()) value *= 0.5;
    Numbers expected(kTokens, one.experts);
    cpu::Router<double>::backward(one.on_cpu, oracle.probabilities, oracle.choices, oracle.weights,
                                  dweights.numbers(), scaled.values(), expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<float> dlogits(kTokens, one.experts);
      router_backward(
          {one.score, probabilities.matrix(),
           Matrix<const std::int32_t>(choices.data(), kTokens, one.top_k), weights.matrix(),
           dweights.matrix(), dprobability.data(), 0.5F, dlogits.matrix()},
          nullptr);
      expect_close(dlogits.numbers(), expected, kTolerance<float>, "dlogits");
    }
  }
}

// A model that has diverged: what comes after reads the rows of these experts, so they are some.
TEST(Router, ChoosesExpertsThatThereAreWhereLogitsAreNoNumbers) {
  constexpr std::int64_t kExperts = 40;
  constexpr std::int64_t kTop = 3;
  const float nan = std::nanf("");
  DeviceValues<float> logits(3, kExperts);  // of NaN
  for (std::int64_t e = 0; e < kExperts; ++e) logits.matrix().row(1)[e] = e == 37 ? 1.0F : nan;
  for (std::int64_t e = 0; e < kExperts; ++e) logits.matrix().row(2)[e] = -HUGE_VALF;
  DeviceValues<float> probabilities(3, kExperts);
  DeviceValues<float> weights(3, kTop);
  std::vector<std::int32_t> choices(3 * kTop, -1);
  router_forward({RouterScoreKind::softmax_of_all,
                  logits.matrix(),
                  probabilities.matrix(),
                  {choices.data(), 3, kTop},
                  weights.matrix()},
                 nullptr);
  EXPECT_EQ(choices, (std::vector<std::int32_t>{0, 1, 2, 37, 0, 1, 0, 1, 2}));
}

TEST(Router, RefusesMoreExpertsThanItsKernelTakes) {
  DeviceValues<float> logits(1, kExpertsMax + 1);
  EXPECT_THROW(router_forward({RouterScoreKind::sigmoid, logits.matrix(), {}, {}, {}}, nullptr),
               std::invalid_argument);
}

TEST(AuxiliaryLoss, IsThatOfTheCpu) {
  for (const Case& one : kCases) {
    const Oracle oracle(one);
    std::vector<double> tokens(static_cast<std::size_t>(one.experts));
    std::vector<double> gradient_expected(tokens.size());
    cpu::AuxiliaryLoss<double>::count(oracle.choices, tokens);
    cpu::AuxiliaryLoss<double>::gradient(0.01, kTokens, one.top_k, tokens, gradient_expected);
    Numbers total(1, 1);
    total.fill(0);
    cpu::AuxiliaryLoss<double>::add_value(oracle.probabilities, gradient_expected, total.view());
    const double expected = total.data()[0];
    const std::vector<std::int32_t> rows_of_expert(tokens.begin(), tokens.end());
    std::vector<float> load(tokens.size());
    std::vector<float> gradient(tokens.size());
    expert_load(rows_of_expert.data(), one.experts, load.data(), nullptr);
    auxiliary_gradient(0.01F, kTokens, one.top_k, load.data(), one.experts, gradient.data(),
                       nullptr);
    for (std::size_t e = 0; e < tokens.size(); ++e) {
      EXPECT_NEAR(static_cast<double>(gradient[e]), gradient_expected[e],
                  1e-6 * gradient_expected[e]);
    }
    DeviceValues<float> probabilities(oracle.probabilities);
    std::vector<double> partials(256);
    double loss = 0;
    auxiliary_loss(probabilities.matrix(), gradient.data(), partials.data(), &loss, nullptr);
    EXPECT_NEAR(loss, expected, 1e-5 * expected);
  }
}

template <typename T>
class ExpertRows : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(ExpertRows, Types);

// More slots than a block sorts at once.
TYPED_TEST(ExpertRows, AreSortedScatteredCombinedAndMultiplied) {
  using T = TypeParam;
  constexpr std::int64_t kTop = 3;
  constexpr std::int64_t kMany = 180;
  constexpr std::int64_t kExperts = 7;
  Choices choices(kMany, kTop);
  for (std::int64_t i = 0; i < choices.size(); ++i) choices.data()[i] = i * i % 11 % kExperts;
  const std::vector<std::int32_t> narrow(choices.values().begin(), choices.values().end());
  cpu::ExpertOrder order;
  order.sort(choices, kExperts);
  DeviceValues<float> weights(random_tensor(kMany, kTop, 1));
  for (const std::int64_t cols : {16, 11}) {
    DeviceValues<T> x(random_tensor(kMany, cols, 2));
    Numbers rows_expected(kMany * kTop, cols);
    Numbers y_expected(kMany, cols);
    Numbers dots_expected(kMany, kTop);
    cpu::ExpertRows<double>::scatter(order.row_of_slot, weights.numbers(), x.numbers(),
                                     rows_expected);
    simt::set_order_seed(static_cast<std::uint64_t>(cols));
    std::vector<std::int32_t> row_of_slot(narrow.size(), -1);
    std::vector<std::int32_t> rows_of_expert(kExperts, -1);
    sort_by_expert(
        {narrow.data(), kMany * kTop, kExperts, row_of_slot.data(), rows_of_expert.data()},
        nullptr);
    EXPECT_EQ(std::vector<std::int64_t>(row_of_slot.begin(), row_of_slot.end()), order.row_of_slot);
    EXPECT_EQ(std::vector<std::int64_t>(rows_of_expert.begin(), rows_of_expert.end()),
              order.rows_of_expert);
    DeviceValues<T> rows(kMany * kTop, cols);
    DeviceValues<T> y(kMany, cols);
    DeviceValues<float> dots(kMany, kTop);
    scatter_to_experts<T>(row_of_slot.data(), kTop, weights.data(), x.matrix(), rows.matrix(),
                          nullptr);
    expect_close(rows.numbers(), rows_expected, kTolerance<T>, "rows");
    cpu::ExpertRows<double>::combine(order.row_of_slot, {}, rows.numbers(), y_expected);
    combine_from_experts<T>(row_of_slot.data(), kTop, nullptr, rows.matrix(), y.matrix(), nullptr);
    expect_close(y.numbers(), y_expected, kTolerance<T>, "y");
    cpu::ExpertRows<double>::dot(order.row_of_slot, x.numbers(), rows.numbers(), dots_expected);
    dot_with_experts<T>(row_of_slot.data(), kTop, x.matrix(), rows.matrix(), dots.data(), nullptr);
    expect_close(dots.numbers(), dots_expected, kTolerance<float>, "dots");
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
