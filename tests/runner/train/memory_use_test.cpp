// What the plan says of a tiny run against what its ranks allocate: parameters, gradients and
// optimizer states to the byte; activations within 5 %, because the plan leaves out norms'
// statistics, RoPE tables and the router's lists. Experts are not spread here:
// where they are, the router decides who holds how many rows, and a run tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "runner/cpu/backend.h"
#include "runner/model/transformer_stage.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/plan/memory_plan.h"
#include "runner/trainer/rank_trainer.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

RunSettings settings_of(const Arguments& arguments) {
  const ParsedOptions parsed = parse_options(arguments, {});
  const auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  return *settings;
}

void expect_as_planned(const Arguments& arguments) {
  const RunSettings settings = settings_of(arguments);
  const MemoryPlan plan = make_memory_plan(settings);
  const auto layout = Layout::make(settings.sizes, settings.world_size());
  TrainerSettings trainer_settings;
  trainer_settings.batch = settings.batch;
  if (settings.fully_sharded) trainer_settings.sharding = ParameterSharding::full;
  std::mutex mutex;
  run_thread_ranks(settings.world_size(), [&](World& world) {
    cpu::Ops<float> ops;
    RankTrainer<cpu::Backend<float>> trainer(
        ops, world, settings.spec, *layout, trainer_settings,
        [&](int chunk, ParameterStore<cpu::Backend<float>>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<cpu::Backend<float>>>(
              ops, settings.spec, *layout, world.rank(), chunk, settings.batch.micro_batch_size,
              store, groups,
              StageOptions{settings.precision, settings.recompute_layers, false,
                           settings.head_chunk_rows, settings.expert_counts});
        });
    trainer.step(0, 1e-3);
    const MemoryUse use = trainer.memory_use();
    const int stage = layout->place_of(world.rank()).pp;
    const StageBytes& planned = plan.stages[static_cast<std::size_t>(stage)];
    const std::lock_guard lock(mutex);
    EXPECT_EQ(use.parameters, planned.parameters) << "rank " << world.rank();
    EXPECT_EQ(use.gradients, planned.gradients) << "rank " << world.rank();
    EXPECT_EQ(use.optimizer, planned.optimizer) << "rank " << world.rank();
    const auto kept = static_cast<double>(planned.activations);
    EXPECT_NEAR(static_cast<double>(use.activations_max), kept, 0.05 * kept)
        << "rank " << world.rank() << " of stage " << stage;
    EXPECT_GE(use.tensors_max, use.activations_max);
    if (planned.logits > planned.activations) {  // then no layer's pass needs as much
      const auto most = static_cast<double>(planned.activations + planned.logits);
      EXPECT_NEAR(static_cast<double>(use.tensors_max), most, 0.05 * most);
    }
  });
}

TEST(MemoryUse, IsAsPlannedForADenseModel) {
  expect_as_planned(tiny_llama({"--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(
      tiny_llama({"--tp", "2", "--pp", "2", "--dp", "2", "--global-batch-size", "8"}));
  expect_as_planned(
      tiny_nemotron({"--cp", "2", "--pp", "2", "--vp", "2", "--global-batch-size", "4"}));
}

// A vocabulary whose logits are most of what a rank holds, all tokens of it and a chunk of them.
TEST(MemoryUse, HoldsAChunkOfLogits) {
  const auto with = [](const char* tp, const char* rows) {
    return tiny_llama({"--vocab-size", "16384", "--num-layers", "2", "--global-batch-size", "2",
                       "--tp", tp, "--head-chunk-rows", rows});
  };
  for (const char* tp : {"1", "2"}) {
    const auto logits = [&](const char* rows) {
      return make_memory_plan(settings_of(with(tp, rows))).largest().logits;
    };
    EXPECT_GT(logits("32"), 3 * logits("9"));
    for (const char* rows : {"32", "9"}) expect_as_planned(with(tp, rows));
  }
}

TEST(MemoryUse, IsAsPlannedForExperts) {
  expect_as_planned(tiny_grok({"--dp", "2", "--pp", "2", "--global-batch-size", "8"}));
  expect_as_planned(tiny_maverick({"--tp", "2", "--etp", "1", "--global-batch-size", "2"}));
}

TEST(MemoryUse, IsAsPlannedFullySharded) {
  expect_as_planned(tiny_llama({"--dp", "4", "--fsdp", "true", "--global-batch-size", "4"}));
  expect_as_planned(tiny_grok({"--dp", "2", "--fsdp", "true", "--global-batch-size", "2"}));
}

TEST(MemoryUse, IsLogged) {
  const TinyRun run = run_tiny(tiny_llama({"--steps", "1", "--global-batch-size", "1"}));
  EXPECT_THAT(run.log, ContainsRegex("memory of this rank \\(stage 0\\) in MiB, counted and "
                                     "planned: parameters 0\\.[0-9]+ and 0\\.[0-9]+"));
}

TEST(MemoryUse, OffloadingOnTheCpuIsSaidToDoNothing) {
  const RunSettings settings =
      settings_of(tiny_llama({"--offload-layers", "2", "--global-batch-size", "1"}));
  EXPECT_THAT(settings.notes, testing::Contains(testing::HasSubstr("does nothing on the CPU")));
  EXPECT_EQ(make_memory_plan(settings).stages[0].host, 0);
}

// Of two ranks with as many experts each, one gets more rows than the other, or both the same.
TEST(MemoryUse, IsToldOfRanksWhoseExpertsGetMoreRowsThanPlanned) {
  const auto log_with = [](const char* imbalance) {
    return run_tiny(
               tiny_grok({"--virtual-ranks", "2", "--dp", "2", "--ep", "2", "--global-batch-size",
                          "2", "--steps", "2", "--expert-imbalance", imbalance}))
        .log;
  };
  const std::string even = log_with("1");
  EXPECT_THAT(even, ContainsRegex("rank [01]'s experts got [0-9]+ rows of a micro-batch in step "
                                  "[01], 1\\.[0-9]+ times the even share, and memory is planned "
                                  "for 64 \\(--expert-imbalance\\)"));
  EXPECT_THAT(even, ContainsRegex("; rows of its experts at most [0-9]+, [01]\\.[0-9]+ times the "
                                  "even share, planned 64\n"));
  EXPECT_THAT(log_with("2"), Not(HasSubstr("experts got")));
}

}  // namespace
}  // namespace llmb::runner
