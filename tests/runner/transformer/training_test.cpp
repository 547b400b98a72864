// Fifty steps of a tiny model of every family: the loss falls towards what the synthetic data's
// chain allows, and the ranks of a layout that uses every kind of parallelism which the family has
// stay with one rank all the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/model/tiny_models.h"
#include "tests/runner/transformer/layout_cases.h"

namespace llmb::runner {
namespace {

using testing::RankStep;

constexpr int kSteps = 50;

std::vector<double> losses_of(const ModelSpec& spec, const ParallelSizes& sizes,
                              int steps = kSteps) {
  const BatchSizes batch{2, 16};
  EXPECT_THAT(check_layout(spec, sizes, batch), ::testing::IsEmpty());
  const Layout layout = *Layout::make(sizes, sizes.world());
  std::vector<double> losses(static_cast<std::size_t>(steps));
  run_thread_ranks(sizes.world(), [&](World& world) {
    RankStep<float> rank(world, spec, layout, batch, 3);
    for (int step = 0; step < steps; ++step) {
      const double loss = rank.forward_backward(step);
      if (world.rank() == 0) losses[static_cast<std::size_t>(step)] = loss;
      rank.update({.learning_rate = 3e-3}, step + 1);
    }
  });
  return losses;
}

void expect_learning(const ModelSpec& spec, const ParallelSizes& sizes) {
  const std::vector<double> alone = losses_of(spec, {});
  const double chance = std::log(static_cast<double>(spec.shape.vocabulary_size));
  EXPECT_NEAR(alone.front(), chance, 0.3);
  EXPECT_LT(alone.back(), SyntheticTokens::entropy_nats() + (chance - 1) / 3);
  EXPECT_GT(alone.back(), SyntheticTokens::entropy_nats());
  const std::vector<double> together = losses_of(spec, sizes);
  for (std::size_t step = 0; step < alone.size(); ++step) {
    EXPECT_NEAR(together[step] / alone[step], 1, 1e-4) << "step " << step;
  }
}

TEST(Training, Grok1LearnsTheSameOnEightRanks) {
  expect_learning(tiny_grok(), {.tp = 2, .cp = 2, .pp = 2, .vp = 2, .ep = 2, .etp = 2});
}

TEST(Training, Llama31LearnsTheSameOnEightRanks) {
  expect_learning(tiny_llama(), {.tp = 2, .cp = 2, .dp = 2});
}

TEST(Training, Llama4MaverickLearnsTheSameOnEightRanks) {
  expect_learning(tiny_maverick(), {.tp = 2, .dp = 2, .pp = 2, .ep = 4});
}

TEST(Training, Nemotron4LearnsTheSameOnEightRanks) {
  expect_learning(tiny_nemotron(), {.tp = 2, .dp = 2, .pp = 2});
}

TEST(Training, RepeatsToTheBit) {
  const ParallelSizes sizes{.tp = 2, .dp = 2, .pp = 2, .ep = 2, .etp = 2};
  EXPECT_EQ(losses_of(tiny_maverick(), sizes, 10), losses_of(tiny_maverick(), sizes, 10));
}

}  // namespace
}  // namespace llmb::runner
