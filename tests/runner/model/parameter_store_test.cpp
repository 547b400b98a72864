#include "runner/model/parameter_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "runner/cpu/backend.h"
#include "runner/cpu/parallel_for.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/parallel/whole_index.h"

namespace llmb::runner {
namespace {

using Values = std::map<std::string, std::map<std::int64_t, float>>;

// Joins all ranks' parts, and expects ranks that share an element to agree on it.
Values joined(const ModelSpec& spec, const ParallelSizes& sizes) {
  Values values;
  const auto layout = Layout::make(sizes, sizes.world());
  EXPECT_TRUE(layout.has_value());
  for (int rank = 0; rank < sizes.world(); ++rank) {
    cpu::Ops<float> ops;
    ParameterStore<cpu::Backend<float>> store(ops, spec, *layout, rank);
    store.initialize(spec, 5);
    for (const LocalParameter<cpu::Backend<float>>& local : store.parameters()) {
      for (std::int64_t i = 0; i < local.element_count(); ++i) {
        const float weight = local.weight[static_cast<std::size_t>(i)];
        const auto [at, is_new] =
            values[local.parameter.name].emplace(testing::whole_index(local, i), weight);
        EXPECT_TRUE(is_new || at->second == weight) << local.parameter.name;
      }
    }
  }
  return values;
}

TEST(ParameterStore, HoldsTheSameModelInEveryLayout) {
  const ModelSpec spec = tiny_grok();
  const Values one = joined(spec, {});
  std::size_t elements = 0;
  std::int64_t expected = 0;
  for (const auto& [name, values] : one) elements += values.size();
  for (const Parameter& parameter : model_parameters(spec)) expected += parameter.element_count();
  EXPECT_EQ(static_cast<std::int64_t>(elements), expected);
  EXPECT_EQ(joined(spec, {.tp = 2, .dp = 2, .ep = 2, .etp = 2}), one);
  EXPECT_EQ(joined(spec, {.tp = 2, .cp = 2, .pp = 2, .vp = 2, .ep = 4}), one);
  EXPECT_EQ(joined(spec, {.dp = 4, .pp = 4, .ep = 2}), one);
}

// Of pieces that threads share, and of one of them.
TEST(ParameterStore, DrawsTheSameOnSeveralThreads) {
  ModelSpec spec = tiny_grok();
  spec.shape.vocabulary_size = 2000;  // more than a thread takes at once
  const Values alone = joined(spec, {});
  cpu::set_threads_per_rank(3);
  const Values together = joined(spec, {.tp = 2});
  cpu::set_threads_per_rank(1);
  EXPECT_EQ(together, alone);
}

// Shares that begin anywhere are moved and updated element by element.
TEST(ParameterStore, PadsItsBlocksForTheRanksThatShareThem) {
  const ModelSpec spec = tiny_grok();
  const auto layout = Layout::make({.cp = 3, .dp = 5}, 15);
  ASSERT_TRUE(layout.has_value());
  for (const auto sharding : {ParameterSharding::none, ParameterSharding::full}) {
    for (int rank = 0; rank < 15; ++rank) {
      cpu::Ops<double> ops;
      ParameterStore<cpu::Backend<double>> store(ops, spec, *layout, rank, sharding);
      for (const ParameterBlock block : store.blocks()) {
        EXPECT_EQ(store.share_first(block) % 64, 0);
        EXPECT_EQ(store.share_size(block) % 64, 0);
        EXPECT_EQ(store.weights(block).size(), store.gradients(block).size());
        if (sharding == ParameterSharding::full) continue;
        EXPECT_EQ(std::ssize(store.weights(block)), 15 * store.share_size(block));
      }
    }
  }
  cpu::Ops<double> ops;
  ParameterStore<cpu::Backend<double>> store(ops, spec, *layout, 0);
  EXPECT_EQ(store.at("embedding.weight").weight.data(),
            store.weights(ParameterBlock::dense).data());
  EXPECT_THROW(store.at("layers.99.router.weight"), std::out_of_range);
}

TEST(ParameterStore, DrawsWeightsOfTheSpreadThatTheModelSays) {
  const ModelSpec spec = tiny_grok();
  const auto layout = Layout::make({}, 1);
  cpu::Ops<double> ops;
  ParameterStore<cpu::Backend<double>> store(ops, spec, *layout, 0);
  store.initialize(spec, 1);
  const auto deviation = [&](const char* name) {
    double squares = 0;
    const auto weight = store.at(name).weight;
    for (const double w : weight) squares += w * w;
    return std::sqrt(squares / static_cast<double>(weight.size()));
  };
  EXPECT_NEAR(deviation("embedding.weight"), spec.initial_std, 0.1 * spec.initial_std);
  const double scaled =
      spec.initial_std / std::sqrt(2.0 * static_cast<double>(spec.shape.layer_count));
  EXPECT_NEAR(deviation("layers.0.attention.out.weight"), scaled, 0.1 * scaled);
  EXPECT_EQ(deviation("final_norm.weight"), 1.0);
}

}  // namespace
}  // namespace llmb::runner
