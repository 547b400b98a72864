// What the CUDA backend's operations count of their own work while a profile is taken.
#include <gtest/gtest.h>

#include "runner/operation/ceiling.h"
#include "tests/runner/backend/backend_step.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using CudaOps = cuda::Ops<Bf16>;
using Values = cuda::Tensor<Bf16>;
using CudaProfile = testing::OnDevice;

Values zeros(CudaOps& ops, std::int64_t rows, std::int64_t cols) {
  Values values(ops, rows, cols);
  ops.fill(values.values(), Bf16{});
  return values;
}

TEST_F(CudaProfile, CountsWhatProductsComputeAndOthersMove) {
  CudaOps ops;
  Values x = zeros(ops, 6, 16);
  Values weight = zeros(ops, 2 * 8, 16);
  Values y = zeros(ops, 6, 16);
  Values half = zeros(ops, 6, 8);
  ops.linear(x, weight, y);  // before the window
  ops.begin_profile();
  ops.linear(x, weight, y);
  ops.linear(x, weight, y);
  const std::vector<std::int64_t> rows = {2, 4};
  ops.grouped_linear(rows, x, weight, half);
  ops.add(x, y);
  ops.activation(parser::Activation::swiglu, y, half);
  const cpu::OpTable table = ops.end_profile();
  EXPECT_EQ(table.at("linear.forward").work.flops, 2 * 2.0 * 6 * 16 * 16);
  EXPECT_EQ(table.at("linear.forward").work.bytes, 0);
  EXPECT_EQ(table.at("grouped_linear.forward").work.flops, 2.0 * 6 * 16 * 8);
  EXPECT_EQ(table.at("elementwise.add").work.bytes, 3 * 6 * 16 * sizeof(Bf16));
  EXPECT_EQ(table.at("activation.forward").work.bytes, 6 * (16 + 8) * sizeof(Bf16));
  EXPECT_EQ(table.size(), 4U);
}

TEST_F(CudaProfile, CountsAttentionAsPublishedResultsDo) {
  CudaOps ops;
  const AttentionShape shape = {.batch = 1, .head_count = 2, .group_count = 1, .head_size = 16};
  const std::vector<std::int64_t> positions = {0, 1, 2, 3};
  cuda::Array<std::int32_t> on_device(ops, 4);
  const std::vector<std::int32_t> narrow(positions.begin(), positions.end());
  ops.write<std::int32_t>(narrow, on_device.values());
  Values q = zeros(ops, 4, 32);
  Values k = zeros(ops, 4, 16);
  Values o = zeros(ops, 4, 32);
  cuda::Tensor<float> log_sum(ops, 4, 2);
  ops.begin_profile();
  ops.attention(shape, positions, on_device.values(), q, k, k, o, log_sum);
  EXPECT_EQ(ops.end_profile().at("attention.forward").work.flops,
            attention_flops(shape, positions));
}

}  // namespace
}  // namespace llmb::runner
