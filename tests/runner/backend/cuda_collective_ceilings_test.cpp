// Collectives between devices: what is measured of them before a run, and what its profile says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <regex>

#include "runner/cuda_collective_ceilings.h"
#include "runner/plan/collective_shapes.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/backend/planned_memory.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::settings_of;

class CudaCollectives : public testing::OnDevice {};

Arguments shared_grok() {
  return tiny_grok(
      {"--tp", "2", "--dp", "2", "--ep", "2", "--etp", "1", "--global-batch-size", "2"});
}

// Rows of hidden size there and back; experts' rows; gradients in fp32 and weights in BF16, of what
// all replicas have and of experts, whose ranks are paired otherwise.
TEST(CollectiveShapes, AreTheModelsOwnMessages) {
  const RunSettings settings = settings_of(shared_grok(), "bf16");
  const ModelShape& shape = settings.spec.shape;
  const auto shapes = collective_shapes(settings, 0);
  ASSERT_EQ(shapes.size(), 7U);
  EXPECT_EQ(shapes[0].group, GroupKind::tensor);
  EXPECT_EQ(shapes[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(shapes[0].count, shape.sequence_length * shape.hidden_size);
  EXPECT_EQ(shapes[1].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(shapes[2].group, GroupKind::expert);
  EXPECT_EQ(shapes[2].count,
            shape.sequence_length / 2 * shape.experts_per_token * shape.hidden_size);
  const StageBytes held = make_memory_plan(settings).stages[0];
  EXPECT_EQ(shapes[3].group, GroupKind::data_context);
  EXPECT_EQ(shapes[3].type, ElementType::float32);
  EXPECT_EQ(shapes[3].count, held.parameter_count);
  EXPECT_EQ(shapes[4].type, ElementType::bfloat16);
  EXPECT_EQ(shapes[5].group, GroupKind::expert_data);
  EXPECT_EQ(shapes[5].count, held.expert_parameter_count);
  EXPECT_TRUE(collective_shapes(settings_of(tiny_grok({}), "bf16"), 0).empty()) << "alone";
}

TEST_F(CudaCollectives, AreMeasuredByAllRanksAtOnce) {
  const RunSettings settings = settings_of(shared_grok(), "bf16");
  if (cuda::count_devices().count < settings.world_size()) GTEST_SKIP() << "not enough devices";
  std::mutex mutex;
  std::map<int, std::vector<Ceiling>> of_rank;
  run_thread_ranks(
      settings.world_size(),
      [&](World& world) {
        cuda::choose_device(world.rank());
        measure_collectives(world, settings, run_layout(settings), 0.003,
                            [&](const Ceiling& ceiling) {
                              const std::lock_guard lock(mutex);
                              of_rank[world.rank()].push_back(ceiling);
                            });
      },
      std::chrono::minutes(10));
  ASSERT_EQ(of_rank.size(), 4U);
  std::vector<std::string> operations;
  for (const Ceiling& ceiling : of_rank[0]) {
    operations.push_back(ceiling.operation);
    EXPECT_GT(ceiling.time_s, 0) << ceiling.name;
  }
  EXPECT_THAT(operations,
              ElementsAre("tensor.all_gather", "tensor.reduce_scatter", "expert.all_to_all",
                          "data_context.reduce_scatter", "data_context.all_gather",
                          "expert_data.reduce_scatter", "expert_data.all_gather"));
  const ModelShape& shape = settings.spec.shape;
  EXPECT_EQ(of_rank[0][0].bytes,
            static_cast<double>(shape.sequence_length * shape.hidden_size * 2));
  for (int rank = 1; rank < 4; ++rank) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      EXPECT_EQ(of_rank[rank][i].repetitions, of_rank[0][i].repetitions) << "all call as often";
    }
  }
}

// GB/s, and the share of what was measured of the same.
TEST_F(CudaCollectives, AreOperationsOfAProfile) {
  if (cuda::count_devices().count < 4) GTEST_SKIP() << "four devices are needed";
  const std::string log =
      log_of(joined(shared_grok(), {"--dtype", "bf16", "--steps", "1", "--profile"}), true);
  for (const char* call : {"tensor.all_gather", "tensor.reduce_scatter", "expert.all_to_all",
                           "data_context.reduce_scatter", "expert_data.all_gather"}) {
    EXPECT_TRUE(std::regex_search(
        log, std::regex(std::string(call) +
                        " +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+% +- +[0-9.]+ +[0-9.]+%\n")))
        << call << "\n"
        << log;
  }
}

// Two micro-batches over two stages: activations there, gradients back, each of a rank's rows.
TEST_F(CudaCollectives, AndSoAreAPipelinesMessages) {
  if (cuda::count_devices().count < 2) GTEST_SKIP() << "two devices are needed";
  const std::string log = log_of(
      tiny_llama({"--num-layers", "2", "--pp", "2", "--global-batch-size", "2",
                  "--micro-batch-size", "1", "--dtype", "bf16", "--steps", "1", "--profile"}),
      true);
  for (const char* messages : {"pipeline.activation", "pipeline.gradient"}) {
    EXPECT_TRUE(std::regex_search(
        log,
        std::regex(std::string(messages) + " +2 +[0-9.]+ +[0-9.]+ +[0-9.]+% +- +[0-9.]+ +-\n")))
        << messages << "\n"
        << log;
  }
  EXPECT_THAT(log, HasSubstr("beside these, on streams of their own"));
}

// A collective is held against itself, anything else that moves bytes against a copy.
TEST(OpCeilings, KnowACollectiveFromACopy) {
  OpCeilings ceilings;
  Ceiling copy;
  copy.bytes = 400;
  copy.time_s = 1;
  Ceiling gather = copy;
  gather.operation = "tensor.all_gather";
  gather.bytes = 50;
  ceilings.add(copy);
  ceilings.add(gather);
  EXPECT_EQ(ceilings.bytes_per_s("tensor.all_gather"), 50);
  EXPECT_EQ(ceilings.bytes_per_s("elementwise.add"), 400);
  EXPECT_FALSE(ceilings.flops_per_s("tensor.all_gather"));
}

}  // namespace
}  // namespace llmb::runner
