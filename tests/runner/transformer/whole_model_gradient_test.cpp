// Whole tiny models of every family, on one rank in double precision: the gradient of every
// parameter against central finite differences of the loss.
#include <gtest/gtest.h>

#include "runner/parallel/loopback_communicator.h"
#include "tests/runner/cpu/finite_difference.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/transformer/rank_step.h"

namespace llmb::runner {
namespace {

using testing::central_difference;
using testing::RankStep;

// Small steps: a routing that changed, or a squared ReLU that crossed its kink, would break the
// difference, not the gradient.
constexpr double kStep = 2e-5;

// One rank with weights large enough that every parameter matters.
class OneRank {
 public:
  explicit OneRank(ModelSpec spec) : world_(make_loopback_world()) {
    spec.initial_std = 0.3;
    const BatchSizes batch{2, 4};
    const auto layout = Layout::make({}, 1);
    step_ = std::make_unique<RankStep<double>>(*world_, spec, *layout, batch, 11);
    std::uint32_t seed = 1;  // norms begin as ones and zeros, where some mistakes do not show
    for (const auto& local : step_->store().parameters()) {
      if (local.parameter.shape.size() > 1) continue;
      std::vector<double> noise(local.weight.size());
      testing::fill_random(noise, seed++, -0.3, 0.3);
      for (std::size_t i = 0; i < noise.size(); ++i) local.weight[i] += noise[i];
    }
  }

  const ParameterStore<cpu::Backend<double>>& store() const { return step_->store(); }
  // Writes the gradients into the store.
  double loss() { return step_->forward_backward(0); }

 private:
  std::unique_ptr<World> world_;
  std::unique_ptr<RankStep<double>> step_;
};

void expect_close(double gradient, double expected, double scale, const std::string& what) {
  EXPECT_LT(std::fabs(gradient - expected), 1e-6 * std::max(std::fabs(expected), scale))
      << what << ": " << gradient << " instead of " << expected;
}

// Along a random direction through the whole tensor, and for a few of its elements.
void expect_gradient(OneRank& rank, const LocalParameter<cpu::Backend<double>>& local,
                     const std::vector<double>& gradient, std::uint32_t seed) {
  const std::string& name = local.parameter.name;
  std::vector<double> direction(local.weight.size());
  testing::fill_random(direction, seed);
  const double norm = std::sqrt(testing::dot(direction, direction));
  for (double& value : direction) value /= norm;
  const std::vector<double> base(local.weight.begin(), local.weight.end());
  double offset = 0;
  const auto loss_along = [&] {
    for (std::size_t i = 0; i < base.size(); ++i) {
      local.weight[i] = base[i] + offset * direction[i];
    }
    return rank.loss();
  };
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::fabs(g));
  ASSERT_GT(largest, 0) << name;
  expect_close(testing::dot(gradient, direction), central_difference(offset, loss_along, kStep),
               largest, name + " along a direction");
  std::copy(base.begin(), base.end(), local.weight.begin());
  for (std::size_t sample = 0; sample < 2; ++sample) {
    const std::size_t i = (seed * 7919 + sample * 104729) % base.size();
    const double expected = central_difference(
        local.weight[i], [&] { return rank.loss(); }, kStep);
    expect_close(gradient[i], expected, largest / 10, name + "[" + std::to_string(i) + "]");
  }
}

void expect_gradients_of(const ModelSpec& spec) {
  OneRank rank(spec);
  rank.loss();
  std::vector<std::vector<double>> gradients;
  for (const auto& local : rank.store().parameters()) {
    gradients.emplace_back(local.gradient.begin(), local.gradient.end());
  }
  std::uint32_t seed = 0;
  for (const auto& local : rank.store().parameters()) {
    expect_gradient(rank, local, gradients[seed], seed + 1);
    ++seed;
  }
}

ShapeOverrides small_shape() {
  ShapeOverrides shape;
  shape.layer_count = 2;
  shape.hidden_size = 16;
  shape.sequence_length = 8;
  shape.vocabulary_size = 32;
  return shape;
}

TEST(WholeModel, Grok1HasTheGradientsOfFiniteDifferences) {
  expect_gradients_of(tiny_model("pretrain_grok1", "314b", small_shape()));
}

TEST(WholeModel, Llama31HasTheGradientsOfFiniteDifferences) {
  expect_gradients_of(tiny_model("pretrain_llama3.1", "8b", small_shape()));
}

// With chunks and a layer without RoPE that two layers and eight tokens can show.
TEST(WholeModel, Llama4MaverickHasTheGradientsOfFiniteDifferences) {
  ModelSpec spec = tiny_model("pretrain_llama4_maverick", "400b", small_shape());
  spec.shape.rotary_skip_interval = 2;
  spec.shape.attention_chunk_size = 3;
  expect_gradients_of(spec);
}

TEST(WholeModel, Nemotron4HasTheGradientsOfFiniteDifferences) {
  expect_gradients_of(tiny_model("pretrain_nemotron4", "15b", small_shape()));
}

}  // namespace
}  // namespace llmb::runner
