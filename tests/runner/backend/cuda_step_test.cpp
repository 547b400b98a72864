// One rank's training step of every family on the CUDA backend, in fp32 and in BF16, against the
// CPU's: loss, norm and every gradient, of the first step and of one after updates.
#include <gtest/gtest.h>

#include <iostream>

#include "runner/cuda/host_device.h"
#include "tests/runner/backend/backend_step.h"
#include "tests/runner/model/tiny_models.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using testing::difference_of;
using testing::step_of;

using Cpu = cpu::Backend<float>;
template <typename T>
using Cuda = cuda::Backend<T>;

// Weights large enough that attention and routing are not nearly even.
ModelSpec small(std::string_view workload, std::string_view size) {
  ShapeOverrides shape;
  shape.layer_count = 2;
  shape.hidden_size = 16;
  shape.sequence_length = 8;
  shape.vocabulary_size = 24;
  ModelSpec spec = tiny_model(workload, size, shape);
  spec.initial_std = 0.2;
  return spec;
}

ModelSpec small_maverick() {
  ModelSpec spec = small("pretrain_llama4_maverick", "400b");
  spec.shape.rotary_skip_interval = 2;
  spec.shape.attention_chunk_size = 3;
  return spec;
}

constexpr BatchSizes kBatch{2, 4};

void expect_same(const BackendStep& cuda, const BackendStep& cpu, double loss_tolerance,
                 double gradient_tolerance) {
  ASSERT_EQ(cuda.losses.size(), cpu.losses.size());
  for (std::size_t step = 0; step < cpu.losses.size(); ++step) {
    EXPECT_NEAR(cuda.losses[step] / cpu.losses[step], 1, loss_tolerance) << "step " << step;
  }
  EXPECT_NEAR(cuda.gradient_norm / cpu.gradient_norm, 1, gradient_tolerance);
  const auto largest = difference_of(cuda, cpu);
  EXPECT_LT(largest.relative, gradient_tolerance) << largest.where;
  std::cout << "loss " << cuda.losses.back() << ", the CPU's " << cpu.losses.back()
            << "; largest difference of a gradient " << largest.relative << " (" << largest.where
            << ")\n";
}

void expect_step(const ModelSpec& spec) {
  expect_same(step_of<Cuda<float>>(spec, {}, kBatch, Precision::fp32, 2),
              step_of<Cpu>(spec, {}, kBatch, Precision::fp32, 2), 1e-5, 1e-4);
  expect_same(step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16),
              step_of<Cpu>(spec, {}, kBatch, Precision::bf16), 2e-3, 5e-2);
}

TEST(CudaBackend, TrainsLlama31AsTheCpuDoes) {
  expect_step(small("pretrain_llama3.1", "8b"));
}

TEST(CudaBackend, TrainsNemotron4AsTheCpuDoes) {
  expect_step(small("pretrain_nemotron4", "15b"));
}

TEST(CudaBackend, TrainsGrok1AsTheCpuDoes) {
  expect_step(small("pretrain_grok1", "314b"));
}

TEST(CudaBackend, TrainsLlama4MaverickAsTheCpuDoes) {
  expect_step(small_maverick());
}

// What an operation reads without waiting for what writes it is NaN then, each time.
TEST(CudaBackend, OrdersItsWorkOnTheStream) {
  cuda::HostDeviceOptions late = cuda::host_devices();
  const cuda::HostDeviceOptions before = late;
  late.timing = cuda::HostTiming::late;
  cuda::set_host_devices(late);
  const ModelSpec spec = small("pretrain_grok1", "314b");
  expect_same(step_of<Cuda<float>>(spec, {}, kBatch, Precision::fp32),
              step_of<Cpu>(spec, {}, kBatch, Precision::fp32), 1e-5, 1e-4);
  cuda::set_host_devices(before);
}

TEST(CudaBackend, RecomputesLayersToTheSameBits) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  StageOptions options;
  options.recomputed_layers = 1;
  const BackendStep kept = step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16);
  const BackendStep again = step_of<Cuda<Bf16>>(spec, {}, kBatch, Precision::bf16, 1, options);
  EXPECT_EQ(kept.gradients, again.gradients);
}

TEST(CudaBackend, HasNoFp8Yet) {
  EXPECT_THROW(
      step_of<Cuda<Bf16>>(small("pretrain_llama3.1", "8b"), {}, kBatch, Precision::fp8_current),
      std::invalid_argument);
}

}  // namespace
}  // namespace llmb::runner
