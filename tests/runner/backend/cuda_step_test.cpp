// One rank's training step of every family on the CUDA backend, in fp32 and in BF16, against the
// CPU's: loss, norm and every gradient, of the first step and of one after updates.
#include <gtest/gtest.h>

#include "tests/runner/backend/small_models.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using testing::expect_same;
using testing::kBatch;
using testing::small;
using testing::small_maverick;
using testing::step_of;

using Cpu = cpu::Backend<float>;
template <typename T>
using Cuda = cuda::Backend<T>;

using CudaBackend = testing::OnDevice;

void expect_step(const ModelSpec& spec) {
  expect_same(step_of<Cuda<float>>(spec, {}, kBatch, Precision::fp32, 2),
              step_of<Cpu>(spec, {}, kBatch, Precision::fp32, 2), 1e-5, 1e-4);
  expect_same(step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16),
              step_of<Cpu>(spec, {}, kBatch, Precision::bf16), 2e-3, 5e-2);
}

TEST_F(CudaBackend, TrainsLlama31AsTheCpuDoes) {
  expect_step(small("pretrain_llama3.1", "8b"));
}

TEST_F(CudaBackend, TrainsNemotron4AsTheCpuDoes) {
  expect_step(small("pretrain_nemotron4", "15b"));
}

TEST_F(CudaBackend, TrainsGrok1AsTheCpuDoes) {
  expect_step(small("pretrain_grok1", "314b"));
}

TEST_F(CudaBackend, TrainsLlama4MaverickAsTheCpuDoes) {
  expect_step(small_maverick());
}

// The library's products, an expert at a time, which FP8 and shared experts have anyway.
TEST_F(CudaBackend, TrainsWithExpertsThatTheHostCounts) {
  const ModelSpec spec = small("pretrain_grok1", "314b");
  StageOptions options;
  options.expert_counts = ExpertCounts::on_host;
  expect_same(step_of<Cuda<float>>(spec, {}, kBatch, Precision::fp32, 2, options),
              step_of<Cpu>(spec, {}, kBatch, Precision::fp32, 2), 1e-5, 1e-4);
}

TEST_F(CudaBackend, RecomputesLayersToTheSameBits) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  StageOptions options;
  options.recomputed_layers = 1;
  const BackendStep kept = step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16);
  const BackendStep again = step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16, 1, options);
  EXPECT_EQ(kept.gradients, again.gradients);
}

}  // namespace
}  // namespace llmb::runner
