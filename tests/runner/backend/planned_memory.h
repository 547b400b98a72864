// expect_as_planned: what the plan says of a run on CUDA devices against what its ranks take from
// their pools.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>

#include "runner/cuda_attention_use.h"
#include "runner/plan/fp8_weights.h"
#include "runner/plan/memory_plan.h"
#include "tests/runner/backend/backend_step.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner::testing {

struct Expected {
  const char* dtype = "bf16";
  double tolerance = 0.05;  // of tensors
  double pool_tolerance = 0.075;
  bool reserves = false;  // what is planned, before the first step
  // Called on the rank's thread: when all is made, and after each step.
  std::function<void()> before_steps = nullptr;
  std::function<void(int step)> after_step = nullptr;
  bool has_graphs = false;  // from the second step on
  int steps = 1;            // from the third on nothing may be allocated any more
};

using CudaBf16 = cuda::Backend<kernels::Bf16>;

inline RunSettings settings_of(const Arguments& arguments, const char* dtype) {
  const ParsedOptions parsed = parse_options(joined(arguments, {"--dtype", dtype}), {});
  EXPECT_FALSE(parsed.exit_code) << parsed.text;
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  // --backend cpu made the settings: no plan of a proxy is refused there.
  settings->backend = Backend::cuda;
  settings->keeps_fp8_weights = choose_to_keep_fp8_weights(*settings, std::int64_t{80} << 30);
  return *settings;
}

inline void expect_near(std::int64_t counted, std::int64_t planned, double tolerance,
                        const char* what, int rank) {
  EXPECT_NEAR(static_cast<double>(counted) / static_cast<double>(planned), 1, tolerance)
      << what << " of rank " << rank << ": " << counted << ", planned " << planned;
}

inline void expect_as_planned(const Arguments& arguments, const Expected& expected = {}) {
  const double tolerance = expected.tolerance;
  RunSettings asked = settings_of(arguments, expected.dtype);
  asked.wants_graphs = expected.has_graphs;
  if (cuda::count_devices().count < asked.world_size()) GTEST_SKIP() << "not enough devices";
  const Layout layout = *Layout::make(asked.sizes, asked.world_size());
  TrainerSettings trainer_settings;
  trainer_settings.batch = asked.batch;
  trainer_settings.optimizer.has_narrow_weights = true;
  if (asked.fully_sharded) trainer_settings.sharding = ParameterSharding::full;
  std::mutex mutex;
  const auto run_rank = [&](World& world) {
    RankPlaceOf<CudaBf16> place(world);
    auto& ops = ops_of(place);
    RunSettings settings = asked;
    settings.attention_workspace_bytes =
        prepare_attention(ops, settings, layout, world.rank()).workspace_bytes;
    const MemoryPlan plan = make_memory_plan(settings);
    const StageBytes& planned =
        plan.stages[static_cast<std::size_t>(layout.place_of(world.rank()).pp)];
    if (expected.reserves) ops.reserve(planned.arena());
    RankTrainer<CudaBf16> trainer(
        ops, world_of(place), settings.spec, layout, trainer_settings,
        [&](int chunk, ParameterStore<CudaBf16>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<CudaBf16>>(
              ops, settings.spec, layout, world.rank(), chunk, settings.batch.micro_batch_size,
              store, groups,
              StageOptions{settings.precision, settings.recompute_layers,
                           settings.keeps_fp8_weights, settings.head_chunk_rows,
                           settings.expert_counts});
        });
    std::int64_t bytes_of_two_steps = 0;
    if (expected.before_steps) expected.before_steps();
    for (int step = 0; step < expected.steps; ++step) {
      choose_pass_mode(ops, expected.has_graphs, step);
      trainer.step(step, 1e-3);
      if (expected.after_step) expected.after_step(step);
      if (step < 2) bytes_of_two_steps = ops.allocated_bytes();
    }
    EXPECT_EQ(ops.allocated_bytes(), bytes_of_two_steps) << "two steps took what all need";
    if (expected.reserves) {
      EXPECT_EQ(ops.grown_bytes(), 0) << "rank " << world.rank() << " took more than was reserved";
    }
    const MemoryUse use = trainer.memory_use();
    const std::lock_guard lock(mutex);
    EXPECT_EQ(use.parameters, planned.parameters) << "rank " << world.rank();
    EXPECT_EQ(use.gradients, planned.gradients) << "rank " << world.rank();
    EXPECT_EQ(use.optimizer, planned.optimizer) << "rank " << world.rank();
    const std::int64_t kept = planned.activations;
    const std::int64_t pass = planned.pass + planned.logits;
    expect_near(use.activations_max, kept, tolerance, "activations", world.rank());
    expect_near(use.tensors_max, kept + pass, tolerance, "activations and a pass", world.rank());
    expect_near(ops.allocated_bytes(), planned.pooled(), expected.pool_tolerance, "pool",
                world.rank());
    std::cout << "rank " << world.rank() << ": activations " << use.activations_max << " of "
              << kept << " planned, with a pass " << use.tensors_max << " of " << kept + pass
              << ", pool " << ops.allocated_bytes() << " of " << planned.pooled() << "\n";
  };
  run_thread_ranks(asked.world_size(), run_rank, std::chrono::minutes(10));
}

}  // namespace llmb::runner::testing
