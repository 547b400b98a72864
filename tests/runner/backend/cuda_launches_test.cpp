// How often a micro-batch gives its device something to run, as the double counts it: with graphs
// once a pass, beside the copies of its tokens.
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
using Backend = cuda::Backend<kernels::Bf16>;

// Of rank 0 in its third step.
std::int64_t launches_of_a_step(const ModelSpec& spec, const ParallelSizes& sizes,
                                int micro_batches, bool has_graphs) {
  const Layout layout = *Layout::make(sizes, sizes.world());
  const BatchSizes batch{1, micro_batches * sizes.dp};
  std::int64_t launches = 0;
  const auto run_rank = [&](World& world) {
    RankPlaceOf<Backend> place(world);
    auto& ops = ops_of(place);
    TrainerSettings settings;
    settings.batch = batch;
    settings.optimizer.has_narrow_weights = true;
    StageOptions options;
    options.precision = Precision::bf16;
    RankTrainer<Backend> trainer(
        ops, world_of(place), spec, layout, settings,
        [&](int chunk, ParameterStore<Backend>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<Backend>>(ops, spec, layout, world.rank(), chunk,
                                                             batch.micro_batch_size, store, groups,
                                                             options);
        });
    std::int64_t before = 0;
    for (int step = 0; step < 3; ++step) {
      testing::choose_pass_mode(ops, has_graphs, step);
      before = cuda::host_calls().launches;
      trainer.step(step, 1e-3);
    }
    if (world.rank() == 0) launches = cuda::host_calls().launches - before;
  };
  run_thread_ranks(sizes.world(), run_rank, std::chrono::minutes(10));
  return launches;
}

// Of a micro-batch that a step has more.
std::int64_t launches_of_a_micro_batch(const ModelSpec& spec, const ParallelSizes& sizes,
                                       bool has_graphs) {
  return launches_of_a_step(spec, sizes, 3, has_graphs) -
         launches_of_a_step(spec, sizes, 2, has_graphs);
}

void expect_launches(const char* family, const ModelSpec& spec, const ParallelSizes& sizes,
                     std::int64_t with_graphs) {
  const std::int64_t as_it_is = launches_of_a_micro_batch(spec, sizes, false);
  const std::int64_t graphs = launches_of_a_micro_batch(spec, sizes, true);
  EXPECT_GT(as_it_is, 50);
  EXPECT_EQ(graphs, with_graphs) << family;
  std::cout << family << ", " << sizes.world() << " ranks: " << as_it_is
            << " launches a micro-batch, " << graphs << " with graphs\n";
}

// Forward and backward, and what no graph has: tokens and targets, and in builds with assertions
// the poison in the memory for them, for what the layers work on and for its gradient.
TEST(CudaLaunches, AreOneAPassWithGraphs) {
  const testing::Uncomputed uncomputed;
  constexpr std::int64_t kCopies = 2;
#if defined(NDEBUG)
  constexpr std::int64_t kPoison = 0;
#else
  constexpr std::int64_t kPoison = 4;
#endif
  constexpr std::int64_t kWithGraphs = 2 + kCopies + kPoison;
  expect_launches("Llama 3.1", small("pretrain_llama3.1", "8b"), {}, kWithGraphs);
  expect_launches("Maverick", small_maverick(), {}, kWithGraphs);
  expect_launches("Llama 3.1", small("pretrain_llama3.1", "8b"), {.tp = 2}, kWithGraphs);
}

}  // namespace
}  // namespace llmb::runner
