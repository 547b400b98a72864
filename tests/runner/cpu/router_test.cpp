#include "runner/cpu/router.h"

#include <gtest/gtest.h>

#include "runner/cpu/expert_rows.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;

constexpr std::array kScores = {RouterScore::softmax_of_all, RouterScore::softmax_of_chosen,
                                RouterScore::sigmoid};

struct Routed {
  explicit Routed(std::int64_t rows, std::int64_t experts, std::int64_t top_k)
      : probabilities(rows, experts), choices(rows, top_k), weights(rows, top_k) {}
  Tensor<double> probabilities;
  Tensor<std::int64_t> choices;
  Tensor<double> weights;
};

Routed route(RouterScore score, const Tensor<double>& logits, std::int64_t top_k) {
  Routed routed(logits.rows(), logits.cols(), top_k);
  Router<double>::forward(score, logits, routed.probabilities, routed.choices, routed.weights);
  return routed;
}

TEST(Router, ChoosesTheHighestAndOfEqualsTheFirst) {
  Tensor<double> logits(2, 4);
  std::ranges::copy(std::array{0.0, 3.0, 1.0, 3.0, 5.0, 5.0, 5.0, 5.0}, logits.data());
  const Routed routed = route(RouterScore::softmax_of_all, logits, 2);
  EXPECT_EQ(std::vector(routed.choices.values().begin(), routed.choices.values().end()),
            (std::vector<std::int64_t>{1, 3, 0, 1}));
  EXPECT_NEAR(routed.weights.data()[2], 0.25, 1e-15);
  const Routed chosen = route(RouterScore::softmax_of_chosen, logits, 2);
  EXPECT_NEAR(chosen.weights.data()[0] + chosen.weights.data()[1], 1, 1e-15);
  const Routed sigmoid = route(RouterScore::sigmoid, logits, 1);
  EXPECT_NEAR(sigmoid.weights.data()[0], 1 / (1 + std::exp(-3.0)), 1e-15);
}

double value_of(const Tensor<double>& probabilities, std::span<const double> dprobability) {
  Tensor<double> total(1, 1);
  total.fill(0);
  AuxiliaryLoss<double>::add_value(probabilities, dprobability, total);
  return *total.data();
}

TEST(Router, HasTheGradientsOfFiniteDifferences) {
  for (const RouterScore score : kScores) {
    Tensor<double> logits = random_tensor(5, 6, 7, -2, 2);
    const Tensor<double> dweights = random_tensor(5, 2, 2);
    const Tensor<double> dprobability = random_tensor(1, 6, 3);
    const auto loss = [&] {
      const Routed routed = route(score, logits, 2);
      return dot(routed.weights.values(), dweights.values()) +
             value_of(routed.probabilities, dprobability.values());
    };
    const Routed routed = route(score, logits, 2);
    Tensor<double> dlogits(5, 6);
    Router<double>::backward(score, routed.probabilities, routed.choices, routed.weights, dweights,
                             dprobability.values(), dlogits);
    expect_gradient(logits.values(), dlogits.values(), loss, "dlogits");
  }
}

TEST(AuxiliaryLoss, IsItsCoefficientWhereTheLoadIsEven) {
  Tensor<double> probabilities(4, 4);
  probabilities.fill(0.25);
  Tensor<std::int64_t> choices(4, 2);
  std::ranges::copy(std::array{0, 1, 2, 3, 0, 1, 2, 3}, choices.data());
  std::vector<double> tokens(4);
  std::vector<double> gradient(4);
  AuxiliaryLoss<double>::count(choices, tokens);
  AuxiliaryLoss<double>::gradient(0.01, 4, 2, tokens, gradient);
  EXPECT_NEAR(value_of(probabilities, gradient), 0.01, 1e-15);
  for (std::int64_t t = 0; t < 4; ++t) {  // all to experts 0 and 1: twice as bad
    std::ranges::copy(std::array{0, 1}, choices.view().row(t));
    std::ranges::copy(std::array{0.5, 0.5, 0.0, 0.0}, probabilities.view().row(t));
  }
  AuxiliaryLoss<double>::count(choices, tokens);
  AuxiliaryLoss<double>::gradient(0.01, 4, 2, tokens, gradient);
  EXPECT_NEAR(value_of(probabilities, gradient), 0.02, 1e-15);
}

ExpertOrder order_of_three_tokens() {
  Tensor<std::int64_t> choices(3, 2);
  std::ranges::copy(std::array{2, 0, 0, 3, 2, 3}, choices.data());
  ExpertOrder order;
  order.sort(choices, 4);
  return order;
}

TEST(ExpertOrder, SortsByExpertAndKeepsTokensInOrder) {
  const ExpertOrder order = order_of_three_tokens();
  EXPECT_EQ(order.rows_of_expert, (std::vector<std::int64_t>{2, 0, 2, 2}));
  EXPECT_EQ(order.row_of_slot, (std::vector<std::int64_t>{2, 0, 1, 4, 3, 5}));
}

TEST(ExpertRows, GivesTokensBackAsTheyWentIn) {
  const ExpertOrder order = order_of_three_tokens();
  const Tensor<double> x = random_tensor(3, 5, 1);
  Tensor<double> rows(6, 5);
  Tensor<double> y(3, 5);
  ExpertRows<double>::scatter(order.row_of_slot, {}, x, rows);
  ExpertRows<double>::combine(order.row_of_slot, {}, rows, y);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(y.data()[i], 2 * x.data()[i]);
}

TEST(ExpertRows, HasTheGradientsOfFiniteDifferences) {
  const ExpertOrder order = order_of_three_tokens();
  Tensor<double> x = random_tensor(3, 5, 1);
  Tensor<double> weights = random_tensor(3, 2, 2);
  const Tensor<double> drows = random_tensor(6, 5, 3);
  const auto permute_loss = [&] {
    Tensor<double> rows(6, 5);
    ExpertRows<double>::scatter(order.row_of_slot, weights, x, rows);
    return dot(rows.values(), drows.values());
  };
  Tensor<double> dx(3, 5);
  Tensor<double> dweights(3, 2);
  ExpertRows<double>::combine(order.row_of_slot, weights, drows, dx);
  ExpertRows<double>::dot(order.row_of_slot, x, drows, dweights);
  expect_gradient(x.values(), dx.values(), permute_loss, "permute dx");
  expect_gradient(weights.values(), dweights.values(), permute_loss, "permute dweights");

  Tensor<double> rows = random_tensor(6, 5, 4);
  const Tensor<double> dy = random_tensor(3, 5, 5);
  const auto unpermute_loss = [&] {
    Tensor<double> y(3, 5);
    ExpertRows<double>::combine(order.row_of_slot, weights, rows, y);
    return dot(y.values(), dy.values());
  };
  Tensor<double> d_rows(6, 5);
  ExpertRows<double>::scatter(order.row_of_slot, weights, dy, d_rows);
  ExpertRows<double>::dot(order.row_of_slot, dy, rows, dweights);
  expect_gradient(rows.values(), d_rows.values(), unpermute_loss, "unpermute drows");
  expect_gradient(weights.values(), dweights.values(), unpermute_loss, "unpermute dweights");
}

}  // namespace
}  // namespace llmb::runner::cpu
