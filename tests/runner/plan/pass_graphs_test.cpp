#include "runner/plan/pass_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "runner/plan/memory_plan.h"

namespace llmb::runner {
namespace {

using ::testing::ElementsAre;

RunSettings settings_of(int stages, int chunks, int micro_batches) {
  Options options;
  options.backend = Backend::cuda;
  options.workload = "pretrain_llama3.1";
  options.model_size = "8b";
  options.scale = stages;
  options.pp = stages;
  options.vp = chunks;
  options.micro_batch_size = 1;
  options.global_batch_size = micro_batches;
  options.wants_graphs = true;
  auto settings = make_run_settings(options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  return *settings;
}

// By hand from the schedules: 1F1B; then interleaved, whose first stage goes, as micro-batch.chunk,
// forward 0.0 1.0 0.1 1.1 2.0, back 0.1, forward 3.0, back 1.1, forward 2.1, back 0.0, …
TEST(PassGraphs, CountTheMicroBatchesOfEachChunk) {
  EXPECT_THAT(states_of_chunks(settings_of(4, 1, 8), 0), ElementsAre(4));
  EXPECT_THAT(states_of_chunks(settings_of(4, 1, 8), 3), ElementsAre(1));
  EXPECT_THAT(states_of_chunks(settings_of(4, 1, 2), 0), ElementsAre(2));
  EXPECT_THAT(states_of_chunks(settings_of(2, 2, 8), 0), ElementsAre(4, 2));
  EXPECT_THAT(states_of_chunks(settings_of(2, 2, 2), 0), ElementsAre(2, 2));
}

TEST(PassGraphs, ArePlannedWithWhatTheDriverKeeps) {
  RunSettings settings = settings_of(2, 2, 8);
  EXPECT_TRUE(has_graphs(settings));
  const StageBytes with = make_memory_plan(settings).stages[0];
  EXPECT_EQ(with.live_passes, 6);
  EXPECT_EQ(with.graphs,
            kGraphOperationBytes * (4 * graph_operations(settings, with.chunks[0], true, false) +
                                    2 * graph_operations(settings, with.chunks[1], false, false)));
  settings.wants_graphs = false;
  const StageBytes without = make_memory_plan(settings).stages[0];
  EXPECT_EQ(without.graphs, 0);
  EXPECT_EQ(without.live_passes, 5);
  // One more pass through 8 layers; and what layers work on, of each chunk: 8192 rows of 4096 BF16
  // numbers.
  const std::int64_t rows = std::int64_t{8192} * 4096 * 2;
  EXPECT_EQ(with.activations,
            without.activations + 8 * layer_cost(settings, 0).activation_bytes + 2 * rows);
  EXPECT_EQ(with.pooled() - without.pooled(),
            with.activations + with.pass - without.activations - without.pass)
      << "graphs are no part of a rank's pool";
}

}  // namespace
}  // namespace llmb::runner
