// Where a step waits for its device, as the double counts it: passes of experts that are all on a
// rank wait nowhere, so that a step's waits do not depend on how many micro-batches it has.
#include <gtest/gtest.h>

#include "runner/cuda/host_device.h"
#include "tests/runner/backend/small_models.h"
#include "tests/runner/backend/uncomputed.h"

namespace llmb::runner {
namespace {

using testing::ops_of;
using testing::RankPlaceOf;
using testing::small;
using testing::small_maverick;
using testing::world_of;

template <typename T>
using Cuda = cuda::Backend<T>;

// Of rank 0 in its third step.
template <typename Backend>
std::int64_t waits_of_a_step(const ModelSpec& spec, const ParallelSizes& sizes, int micro_batches,
                             StageOptions options) {
  const Layout layout = *Layout::make(sizes, sizes.world());
  const BatchSizes batch{1, micro_batches * sizes.dp};
  std::int64_t waits = 0;
  const auto run_rank = [&](World& world) {
    RankPlaceOf<Backend> place(world);
    auto& ops = ops_of(place);
    TrainerSettings settings;
    settings.batch = batch;
    settings.optimizer.has_narrow_weights = options.precision != Precision::fp32;
    RankTrainer<Backend> trainer(
        ops, world_of(place), spec, layout, settings,
        [&](int chunk, ParameterStore<Backend>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<Backend>>(ops, spec, layout, world.rank(), chunk,
                                                             batch.micro_batch_size, store, groups,
                                                             options);
        });
    for (int step = 0; step < 2; ++step) trainer.step(step, 1e-3);
    const std::int64_t before = cuda::host_calls().waits + cuda::host_calls().releases;
    trainer.step(2, 1e-3);
    if (world.rank() == 0) {
      waits = cuda::host_calls().waits + cuda::host_calls().releases - before;
    }
  };
  run_thread_ranks(sizes.world(), run_rank, std::chrono::minutes(10));
  return waits;
}

template <typename Backend>
std::int64_t waits_of_two_passes_more(const ModelSpec& spec, const ParallelSizes& sizes,
                                      const StageOptions& options) {
  return waits_of_a_step<Backend>(spec, sizes, 3, options) -
         waits_of_a_step<Backend>(spec, sizes, 1, options);
}

StageOptions options_of(Precision precision, ExpertCounts expert_counts = ExpertCounts::on_device) {
  StageOptions options;
  options.precision = precision;
  options.expert_counts = expert_counts;
  return options;
}

TEST(CudaWaits, AreNoneInAPassOfExpertsThatAreAllHere) {
  const testing::Uncomputed uncomputed;
  const ModelSpec grok = small("pretrain_grok1", "314b");
  EXPECT_EQ(waits_of_two_passes_more<Cuda<float>>(grok, {}, options_of(Precision::fp32)), 0);
  for (const Precision precision :
       {Precision::bf16, Precision::fp8_current, Precision::fp8_delayed}) {
    EXPECT_EQ(
        waits_of_two_passes_more<Cuda<kernels::Bf16>>(small_maverick(), {}, options_of(precision)),
        0)
        << precision_name(precision);
  }
}

// How much travels is known then, too.
TEST(CudaWaits, AreNoneWhereSlicesOfExpertsAreShared) {
  const testing::Uncomputed uncomputed;
  EXPECT_EQ(waits_of_two_passes_more<Cuda<float>>(small("pretrain_grok1", "314b"),
                                                  {.tp = 2, .dp = 2, .etp = 2},
                                                  options_of(Precision::fp32)),
            0);
}

TEST(CudaWaits, AreOneALayerAndPassWhereTheHostHasToKnow) {
  const ModelSpec grok = small("pretrain_grok1", "314b");
  const std::int64_t layers = grok.shape.layer_count;
  const auto library = options_of(Precision::fp32, ExpertCounts::on_host);
  EXPECT_EQ(waits_of_two_passes_more<Cuda<float>>(grok, {}, library), 2 * layers);
  EXPECT_EQ(
      waits_of_two_passes_more<Cuda<float>>(grok, {.dp = 2, .ep = 2}, options_of(Precision::fp32)),
      2 * layers)
      << "messages are as long as the host says";
  EXPECT_EQ(waits_of_two_passes_more<Cuda<kernels::Bf16>>(
                grok, {}, options_of(Precision::fp8_current, ExpertCounts::on_host)),
            2 * layers);
}

}  // namespace
}  // namespace llmb::runner
