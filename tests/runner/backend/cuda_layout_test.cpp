// Layouts of up to eight ranks, threads with a device each, on the CUDA backend against one rank on
// the CPU: every kind of parallelism goes through the backend's collectives.
#include <gtest/gtest.h>

#include "tests/runner/backend/small_models.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using testing::difference_of;
using testing::small;
using testing::step_of;

using CudaBackendRanks = testing::OnDevice;

// Micro-batches of one sample a replica.
void expect_layout(const ModelSpec& spec, const ParallelSizes& sizes, int micro_batches = 2) {
  if (cuda::count_devices().count < sizes.world()) {
    GTEST_SKIP() << "a rank needs a device of its own, and there are "
                 << cuda::count_devices().count << " for " << sizes.world();
  }
  const BatchSizes batch{1, micro_batches * sizes.dp};
  const BackendStep alone = step_of<cpu::Backend<float>>(spec, {}, batch, Precision::fp32);
  const BackendStep ranks = step_of<cuda::Backend<float>>(spec, sizes, batch, Precision::fp32);
  EXPECT_NEAR(ranks.losses[0] / alone.losses[0], 1, 1e-5);
  EXPECT_NEAR(ranks.gradient_norm / alone.gradient_norm, 1, 1e-4);
  const auto largest = difference_of(ranks, alone);
  EXPECT_LT(largest.relative, 1e-4) << largest.where;
  std::cout << sizes.world() << " ranks: largest difference of a gradient " << largest.relative
            << " (" << largest.where << ")\n";
}

TEST_F(CudaBackendRanks, ShareDataAndTensors) {
  expect_layout(small("pretrain_llama3.1", "8b"), {.tp = 2, .dp = 2});
}

TEST_F(CudaBackendRanks, ShareContextAndPipeline) {
  expect_layout(small("pretrain_nemotron4", "15b"), {.cp = 2, .pp = 2});
}

// Messages go from device to device, and each stage is sent to while it computes: 1F1B with more
// micro-batches than stages and with fewer, and interleaved, where the last stage feeds the first.
TEST_F(CudaBackendRanks, ArePipelines) {
  expect_layout(small("pretrain_llama3.1", "8b"), {.pp = 2}, 5);
  expect_layout(small("pretrain_llama3.1", "8b", 4), {.pp = 4}, 3);
}

TEST_F(CudaBackendRanks, AreInterleavedPipelines) {
  expect_layout(small("pretrain_llama3.1", "8b", 6), {.pp = 2, .vp = 3}, 4);
}

TEST_F(CudaBackendRanks, AreDeepPipelines) {
  expect_layout(small("pretrain_llama3.1", "8b", 8), {.pp = 8}, 9);
}

TEST_F(CudaBackendRanks, ArePipelinesOfSharedStages) {
  expect_layout(small("pretrain_nemotron4", "15b", 4), {.tp = 2, .dp = 2, .pp = 2, .vp = 2});
}

TEST_F(CudaBackendRanks, ShareExperts) {
  expect_layout(small("pretrain_grok1", "314b"), {.tp = 2, .dp = 2, .ep = 2, .etp = 2});
}

TEST_F(CudaBackendRanks, ShareSlicesOfExperts) {
  expect_layout(small("pretrain_grok1", "314b"), {.tp = 2, .dp = 2, .etp = 2});
}

TEST_F(CudaBackendRanks, AreEightOfEveryKind) {
  expect_layout(small("pretrain_llama4_maverick", "400b"),
                {.tp = 2, .cp = 2, .pp = 2, .ep = 2, .etp = 2});
}

TEST_F(CudaBackendRanks, ShareDataInBf16) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  const ParallelSizes sizes{.tp = 2, .dp = 2};
  const BatchSizes batch{1, 4};
  if (cuda::count_devices().count < sizes.world()) GTEST_SKIP() << "four devices are needed";
  const BackendStep alone = step_of<cpu::Backend<float>>(spec, {}, batch, Precision::bf16);
  const BackendStep ranks = step_of<cuda::Backend<Bf16>>(spec, sizes, batch, Precision::bf16);
  EXPECT_NEAR(ranks.losses[0] / alone.losses[0], 1, 2e-3);
  const auto largest = difference_of(ranks, alone);
  EXPECT_LT(largest.relative, 5e-2) << largest.where;
}

}  // namespace
}  // namespace llmb::runner
