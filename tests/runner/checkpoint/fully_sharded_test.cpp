// Fully sharded parameters: a rank keeps its share, gathers a layer for as long as it works on it,
// and trains what one rank would train.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "runner/checkpoint/checkpoint.h"
#include "tests/runner/checkpoint/trained_ranks.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

using testing::Joined;
using testing::joined_states;
using testing::TrainerWay;

const TrainerWay kSharded{{}, ParameterSharding::full};

// After one step the first moments are a tenth of the clipped gradients.
Joined after_one_step(const ModelSpec& spec, const ParallelSizes& sizes, const TrainerWay& way) {
  return joined_states(
      spec, sizes, [](testing::Trainer& trainer) { trainer.step(0, 0.01); }, way);
}

void expect_equal(const Joined& states, const Joined& expected) {
  ASSERT_EQ(states.size(), expected.size());
  for (const auto& [name, values] : expected) {
    if (name.find("first_moment") == std::string::npos) continue;
    const auto& others = states.at(name);
    ASSERT_EQ(others.size(), values.size()) << name;
    float largest = 0;
    for (const auto& [index, value] : values) largest = std::max(largest, std::fabs(value));
    for (const auto& [index, value] : values) {
      ASSERT_NEAR(others.at(index), value, 1e-5F * largest) << name << "[" << index << "]";
    }
  }
}

TEST(FullySharded, HasTheGradientsOfOneRank) {
  for (const ModelSpec& spec : {tiny_llama(), tiny_grok(), tiny_nemotron()}) {
    SCOPED_TRACE(spec.shape.family);
    const Joined one = after_one_step(spec, {}, {});
    expect_equal(after_one_step(spec, {.dp = 4}, kSharded), one);
    const int ep = spec.is_moe() ? 2 : 1;
    expect_equal(after_one_step(spec, {.tp = 2, .cp = 2, .dp = 2, .ep = ep}, kSharded), one);
    expect_equal(after_one_step(spec, {.tp = 2, .dp = 2, .pp = 2, .vp = 2, .ep = ep}, kSharded),
                 one);
  }
}

TEST(FullySharded, RecomputesAsWell) {
  TrainerWay both = kSharded;
  both.stage.recomputed_layers = 3;
  expect_equal(after_one_step(tiny_grok(), {.dp = 4, .ep = 2}, both),
               after_one_step(tiny_grok(), {}, {}));
}

TEST(FullySharded, KeepsOnlyItsShareBetweenPasses) {
  std::map<std::int64_t, std::int64_t> of_layer;
  for (const Parameter& parameter : model_parameters(tiny_llama())) {
    of_layer[parameter.layer] += parameter.element_count();
  }
  std::int64_t elements = 0;
  for (const auto& [layer, count] : of_layer) elements += padded_block_size(count, 4);
  testing::on_every_rank(
      tiny_llama(), {.dp = 4},
      [&](testing::Trainer& trainer) {
        trainer.step(0, 0.01);
        EXPECT_EQ(trainer.memory_use().parameters, elements);  // 4 bytes each, a quarter of them
        EXPECT_EQ(trainer.memory_use().gradients, elements);
        for (const LocalParameter<testing::Backend>& local : trainer.store().parameters()) {
          EXPECT_TRUE(local.weight.empty()) << local.parameter.name;
          EXPECT_TRUE(local.gradient.empty()) << local.parameter.name;
        }
      },
      kSharded);
}

TEST(FullySharded, CheckpointsLoadWithAndWithoutIt) {
  const TemporaryFolder directory;
  const ParallelSizes four{.dp = 4, .ep = 2};
  const Joined saved = joined_states(
      tiny_grok(), four,
      [&](testing::Trainer& trainer) {
        for (std::int64_t step = 0; step < 2; ++step) trainer.step(step, 0.01);
        save_checkpoint(directory.path(), trainer, 2, {});
      },
      kSharded);
  const auto load = [&](testing::Trainer& trainer) { load_checkpoint(directory.path(), trainer); };
  EXPECT_EQ(joined_states(tiny_grok(), four, load, kSharded), saved);
  EXPECT_EQ(joined_states(tiny_grok(), {.tp = 2, .ep = 2}, load), saved);
}

}  // namespace
}  // namespace llmb::runner
