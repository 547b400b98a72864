// What the plan says of a tiny run on CUDA devices against what its ranks take from their pools:
// what stays from step to step to the byte; activations, and what a pass needs while it runs, as
// near as sizes this small allow, because pools give out memory in granules.
#include <gtest/gtest.h>

#include "runner/plan/fp8_weights.h"
#include "runner/plan/memory_plan.h"
#include "tests/runner/backend/backend_step.h"
#include "tests/runner/cuda/device_setup.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {
namespace {

using Cuda = cuda::Backend<kernels::Bf16>;
using CudaMemory = testing::OnDevice;

struct Expected {
  const char* dtype = "bf16";
  double tolerance = 0.05;
  int steps = 1;
};

RunSettings settings_of(const Arguments& arguments, const char* dtype) {
  const ParsedOptions parsed = parse_options(joined(arguments, {"--dtype", dtype}), {});
  EXPECT_FALSE(parsed.exit_code) << parsed.text;
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  // --backend cpu made the settings: no plan of a proxy is refused there.
  settings->backend = Backend::cuda;
  settings->keeps_fp8_weights = choose_to_keep_fp8_weights(*settings, std::int64_t{80} << 30);
  return *settings;
}

void expect_near(std::int64_t counted, std::int64_t planned, double tolerance, const char* what,
                 int rank) {
  EXPECT_NEAR(static_cast<double>(counted) / static_cast<double>(planned), 1, tolerance)
      << what << " of rank " << rank << ": " << counted << ", planned " << planned;
}

void expect_as_planned(const Arguments& arguments, const Expected& expected = {}) {
  const double tolerance = expected.tolerance;
  const RunSettings settings = settings_of(arguments, expected.dtype);
  if (cuda::count_devices().count < settings.world_size()) GTEST_SKIP() << "not enough devices";
  const MemoryPlan plan = make_memory_plan(settings);
  const Layout layout = *Layout::make(settings.sizes, settings.world_size());
  TrainerSettings trainer_settings;
  trainer_settings.batch = settings.batch;
  trainer_settings.optimizer.has_narrow_weights = true;
  if (settings.fully_sharded) trainer_settings.sharding = ParameterSharding::full;
  std::mutex mutex;
  const auto run_rank = [&](World& world) {
    testing::RankPlaceOf<Cuda> place(world);
    auto& ops = testing::ops_of(place);
    RankTrainer<Cuda> trainer(
        ops, testing::world_of(place), settings.spec, layout, trainer_settings,
        [&](int chunk, ParameterStore<Cuda>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<Cuda>>(
              ops, settings.spec, layout, world.rank(), chunk, settings.batch.micro_batch_size,
              store, groups,
              StageOptions{settings.precision, settings.recompute_layers,
                           settings.keeps_fp8_weights, settings.head_chunk_rows});
        });
    trainer.step(0, 1e-3);
    const std::int64_t first_bytes = ops.allocated_bytes();
    for (int step = 1; step < expected.steps; ++step) trainer.step(step, 1e-3);
    EXPECT_EQ(ops.allocated_bytes(), first_bytes) << "what the first step took is enough";
    const MemoryUse use = trainer.memory_use();
    const StageBytes& planned =
        plan.stages[static_cast<std::size_t>(layout.place_of(world.rank()).pp)];
    const std::lock_guard lock(mutex);
    EXPECT_EQ(use.parameters, planned.parameters) << "rank " << world.rank();
    EXPECT_EQ(use.gradients, planned.gradients) << "rank " << world.rank();
    EXPECT_EQ(use.optimizer, planned.optimizer) << "rank " << world.rank();
    const std::int64_t kept = planned.activations;
    const std::int64_t pass = planned.pass + planned.logits;
    expect_near(use.activations_max, kept, tolerance, "activations", world.rank());
    expect_near(use.tensors_max, kept + pass, tolerance, "activations and a pass", world.rank());
    expect_near(ops.allocated_bytes(), planned.total() - planned.reserve, 1.5 * tolerance, "pool",
                world.rank());
    std::cout << "rank " << world.rank() << ": activations " << use.activations_max << " of "
              << kept << " planned, with a pass " << use.tensors_max << " of " << kept + pass
              << ", pool " << ops.allocated_bytes() << " of " << planned.total() - planned.reserve
              << "\n";
  };
  run_thread_ranks(settings.world_size(), run_rank, std::chrono::minutes(10));
}

TEST_F(CudaMemory, IsAsPlannedForADenseModel) {
  expect_as_planned(tiny_llama({"--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(tiny_llama(
      {"--tp", "2", "--pp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(
      tiny_nemotron({"--cp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
}

TEST_F(CudaMemory, IsWithinTwoPercentWhereGranulesAreSmall) {
  expect_as_planned(tiny_llama({"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size",
                                "192", "--seq-length", "64", "--vocab-size", "256",
                                "--global-batch-size", "2", "--micro-batch-size", "2"}),
                    {.tolerance = 0.02, .steps = 3});
}

// Logits of all tokens would be 1 MiB here, and a chunk's are 256 KiB.
TEST_F(CudaMemory, HoldsAChunkOfLogits) {
  const auto with = [](const char* rows) {
    return tiny_llama({"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size", "192",
                       "--seq-length", "64", "--vocab-size", "4096", "--global-batch-size", "2",
                       "--micro-batch-size", "2", "--head-chunk-rows", rows});
  };
  const auto planned = [&](const char* rows) {
    return make_memory_plan(settings_of(with(rows), "bf16")).largest();
  };
  EXPECT_EQ(planned("128").logits - planned("32").logits, (128 - 32) * 4096 * 2);
  for (const char* rows : {"128", "32", "29"}) expect_as_planned(with(rows), {.tolerance = 0.02});
}

TEST_F(CudaMemory, IsAsPlannedWhereFp8WeightsAreKept) {
  const Arguments arguments = tiny_llama(
      {"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size", "192", "--seq-length", "64",
       "--vocab-size", "256", "--global-batch-size", "4", "--micro-batch-size", "2"});
  const Expected kept{.dtype = "fp8_cs"};
  EXPECT_GT(make_memory_plan(settings_of(arguments, kept.dtype)).stages[0].fp8_weights, 0);
  expect_as_planned(arguments, kept);
  expect_as_planned(
      tiny_grok({"--hidden-size", "64", "--global-batch-size", "4", "--micro-batch-size", "2"}),
      kept);
}

// Whole for a moment: head and embedding of a large vocabulary, a layer, a layer of experts.
TEST_F(CudaMemory, IsAsPlannedFullySharded) {
  const Arguments sharded = {
      "--dp", "2", "--fsdp", "true", "--global-batch-size", "4", "--micro-batch-size", "2"};
  expect_as_planned(tiny_llama(joined(sharded, {"--vocab-size", "2048"})), {.steps = 2});
  expect_as_planned(tiny_llama(joined(sharded, {"--ffn-hidden-size", "512"})), {.steps = 2});
  expect_as_planned(tiny_grok(sharded), {.steps = 2});
  expect_as_planned(tiny_maverick(sharded), {.steps = 2});
}

TEST_F(CudaMemory, IsAsPlannedForExperts) {
  expect_as_planned(
      tiny_grok({"--dp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(tiny_maverick({"--global-batch-size", "2", "--micro-batch-size", "2"}));
}

}  // namespace
}  // namespace llmb::runner
