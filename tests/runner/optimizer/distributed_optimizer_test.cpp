#include "runner/optimizer/distributed_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "runner/cpu/backend.h"
#include "runner/cpu/rounding.h"
#include "runner/data/counter_random.h"
#include "runner/parallel/thread_communicator.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/parallel/whole_index.h"

namespace llmb::runner {
namespace {

// What a gradient is, element by element of the whole model: drawn by position.
double gradient_at(const std::string& name, std::int64_t step, std::int64_t index) {
  return 0.01 * normal_at(combine_key(key_of(name), static_cast<std::uint64_t>(step)),
                          static_cast<std::uint64_t>(index));
}

// Gives every rank a part of the sum, so that all the sums of the optimizer are needed: the
// replicas in `shares` hold 1/shares each.
void write_gradients(ParameterStore<cpu::Backend<double>>& store, const ParallelSizes& sizes,
                     std::int64_t step) {
  for (const LocalParameter<cpu::Backend<double>>& local : store.parameters()) {
    int shares = local.parameter.is_expert() ? sizes.edp() : sizes.dp * sizes.cp;
    if (!local.parameter.tensor_axis) shares *= sizes.tp;
    for (std::int64_t i = 0; i < local.element_count(); ++i) {
      local.gradient[static_cast<std::size_t>(i)] =
          gradient_at(local.parameter.name, step, testing::whole_index(local, i)) / shares;
    }
  }
}

struct Trained {
  std::map<std::string, std::map<std::int64_t, double>> weights;
  std::vector<double> norms;
};

Trained train(const ModelSpec& spec, const ParallelSizes& sizes, int steps) {
  const auto layout = Layout::make(sizes, sizes.world());
  Trained trained;
  std::mutex mutex;
  run_thread_ranks(sizes.world(), [&](World& world) {
    const RankGroups groups = make_rank_groups(world, *layout);
    cpu::Ops<double> ops;
    ParameterStore<cpu::Backend<double>> store(ops, spec, *layout, world.rank());
    OptimizerSettings settings;
    settings.gradient_norm_max = 0.5;
    DistributedOptimizer<cpu::Backend<double>> optimizer(ops, store, groups, settings);
    optimizer.draw_weights(spec, 3);
    for (int step = 0; step < steps; ++step) {
      write_gradients(store, sizes, step);
      const OptimizerStep result = optimizer.step(1e-2);
      EXPECT_TRUE(result.is_updated);
      const std::lock_guard lock(mutex);
      if (world.rank() == 0) trained.norms.push_back(result.gradient_norm);
    }
    const std::lock_guard lock(mutex);
    for (const LocalParameter<cpu::Backend<double>>& local : store.parameters()) {
      for (std::int64_t i = 0; i < local.element_count(); ++i) {
        const double weight = local.weight[static_cast<std::size_t>(i)];
        const auto [at, is_new] =
            trained.weights[local.parameter.name].emplace(testing::whole_index(local, i), weight);
        EXPECT_TRUE(is_new || at->second == weight) << local.parameter.name;
      }
    }
  });
  return trained;
}

TEST(DistributedOptimizer, CountsEveryElementOfTheNormOnce) {
  const ModelSpec spec = tiny_maverick();
  double squares = 0;
  for (const Parameter& parameter : model_parameters(spec)) {
    for (std::int64_t i = 0; i < parameter.element_count(); ++i) {
      squares += std::pow(gradient_at(parameter.name, 0, i), 2);
    }
  }
  for (const ParallelSizes& sizes :
       {ParallelSizes{}, ParallelSizes{.tp = 2, .pp = 2}, ParallelSizes{.cp = 2, .dp = 2, .ep = 2},
        ParallelSizes{.tp = 2, .dp = 2, .ep = 2, .etp = 1},
        ParallelSizes{.tp = 2, .dp = 2, .pp = 2, .vp = 2, .ep = 2, .etp = 2}}) {
    EXPECT_NEAR(train(spec, sizes, 1).norms[0], std::sqrt(squares), 1e-9 * std::sqrt(squares));
  }
}

TEST(DistributedOptimizer, UpdatesTheSameWeightsInEveryLayout) {
  const ModelSpec spec = tiny_grok();
  const Trained one = train(spec, {}, 3);
  for (const ParallelSizes& sizes :
       {ParallelSizes{.dp = 3}, ParallelSizes{.tp = 2, .cp = 2, .dp = 2, .ep = 4, .etp = 2},
        ParallelSizes{.tp = 2, .dp = 2, .pp = 2, .ep = 2}}) {
    const Trained many = train(spec, sizes, 3);
    ASSERT_EQ(many.weights.size(), one.weights.size());
    double worst = 0;
    for (const auto& [name, weights] : one.weights) {
      const auto& others = many.weights.at(name);
      ASSERT_EQ(others.size(), weights.size()) << name;
      for (const auto& [index, weight] : weights) {
        worst = std::max(worst, std::abs(others.at(index) - weight));
      }
    }
    EXPECT_LT(worst, 1e-9);
  }
}

TEST(DistributedOptimizer, LeavesEverythingAloneWhereTheNormIsNoNumber) {
  const ModelSpec spec = tiny_llama();
  const ParallelSizes sizes{.dp = 2};
  const auto layout = Layout::make(sizes, 2);
  run_thread_ranks(2, [&](World& world) {
    const RankGroups groups = make_rank_groups(world, *layout);
    cpu::Ops<float> ops;
    ParameterStore<cpu::Backend<float>> store(ops, spec, *layout, world.rank());
    DistributedOptimizer<cpu::Backend<float>> optimizer(ops, store, groups, {});
    optimizer.draw_weights(spec, 3);
    const std::span<const float> weights = store.weights(ParameterBlock::dense);
    const std::vector<float> before(weights.begin(), weights.end());
    if (world.rank() == 1) store.gradients(ParameterBlock::dense)[5] = std::nanf("");
    const OptimizerStep result = optimizer.step(1e-2);
    EXPECT_FALSE(result.is_updated);
    EXPECT_TRUE(std::isnan(result.gradient_norm));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), weights.begin()));
    EXPECT_EQ(optimizer.update_count(), 0);
  });
}

TEST(DistributedOptimizer, KeepsFullPrecisionBehindRoundedWeights) {
  const ModelSpec spec = tiny_llama();
  const auto layout = Layout::make({}, 1);
  run_thread_ranks(1, [&](World& world) {
    const RankGroups groups = make_rank_groups(world, *layout);
    cpu::Ops<float> ops;
    ParameterStore<cpu::Backend<float>> store(ops, spec, *layout, 0);
    OptimizerSettings settings;
    settings.has_narrow_weights = true;
    DistributedOptimizer<cpu::Backend<float>> optimizer(ops, store, groups, settings);
    optimizer.draw_weights(spec, 3);
    // Steps so small that each alone would be lost in BF16.
    const float before = store.at("head.weight").weight[0];
    for (int step = 0; step < 200; ++step) {
      store.zero_gradients();
      store.at("head.weight").gradient[0] = 1;
      optimizer.step(1e-6);
    }
    const float after = store.at("head.weight").weight[0];
    EXPECT_EQ(after, cpu::round_to_bf16(after));
    EXPECT_NEAR(before - after, 200e-6, 100e-6);
    EXPECT_LT(after, before);
  });
}

}  // namespace
}  // namespace llmb::runner
