// Layers that go forward again instead of keeping their activations change no bit.
#include <gtest/gtest.h>

#include "tests/runner/checkpoint/trained_ranks.h"

namespace llmb::runner {
namespace {

using testing::joined_states;
using testing::TrainerWay;

TEST(Recompute, ChangesNoBit) {
  const ParallelSizes sizes{.tp = 2, .pp = 2, .vp = 2, .ep = 2};
  for (const Precision precision : {Precision::fp32, Precision::fp8_delayed}) {
    SCOPED_TRACE(precision_name(precision));
    const auto trained = [&](std::int64_t layers) {
      TrainerWay way;
      way.stage = {precision, layers};
      return joined_states(
          tiny_grok(), sizes,
          [](testing::Trainer& trainer) {
            for (std::int64_t step = 0; step < 2; ++step) trainer.step(step, 0.01);
          },
          way);
    };
    const auto kept = trained(0);
    EXPECT_EQ(trained(1), kept);  // of two layers a rank, the first
    EXPECT_EQ(trained(2), kept);
  }
}

TEST(Recompute, KeepsLess) {
  const auto kept_bytes = [](std::int64_t layers) {
    std::int64_t bytes = 0;
    TrainerWay way;
    way.stage.recomputed_layers = layers;
    testing::on_every_rank(
        tiny_llama(), {},
        [&](testing::Trainer& trainer) {
          trainer.step(0, 0.01);
          bytes = trainer.memory_use().activations_max;
        },
        way);
    return bytes;
  };
  const std::int64_t none = kept_bytes(0);
  const std::int64_t half = kept_bytes(2);
  const std::int64_t all = kept_bytes(4);
  EXPECT_GT(none - half, half - all - 1);
  EXPECT_LT(all, none / 2);
}

}  // namespace
}  // namespace llmb::runner
