// Ceilings on the double: that what is measured is counted as it is said, not how fast it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runner/cuda/ceilings.h"
#include "runner/cuda/device.h"
#include "runner/cuda/host_device.h"
#include "tests/runner/cuda/changed_devices.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::HasSubstr;

class Ceilings : public testing::OnDevice {};

constexpr CeilingOptions kShort{0.003, nullptr};

TEST_F(Ceilings, CountWhatAProductDoes) {
  const Gemm gemm = {.m = 32,
                     .n = 16,
                     .k = 48,
                     .a = {nullptr, NumberType::bf16, 48},
                     .b = {nullptr, NumberType::bf16, 48, true},
                     .d_type = NumberType::bf16,
                     .d_stride = 16};
  const Ceiling ceiling = measure_gemm("gemm", gemm, kShort);
  EXPECT_EQ(ceiling.flops, 2.0 * 32 * 16 * 48);
  EXPECT_GE(ceiling.repetitions, 3);
  EXPECT_GT(ceiling.time_s_min, 0);
  EXPECT_LE(ceiling.time_s_min, ceiling.time_s);
  EXPECT_LE(ceiling.time_s, ceiling.time_s_max);
  EXPECT_DOUBLE_EQ(ceiling.tflops_per_s(), ceiling.flops / ceiling.time_s / 1e12);
  EXPECT_THAT(ceiling_line(ceiling), HasSubstr("gemm"));
}

TEST_F(Ceilings, CountHalfOfTheSquareForAttention) {
  AttentionSizes sizes{1, 2, 1, 16, 0, {{0, 32}}, 32};
  EXPECT_EQ(attention_flops(sizes), 4.0 * 32 * 32 / 2 * 2 * 16);
  sizes.chunk_size = 16;
  EXPECT_EQ(attention_flops(sizes), 4.0 * 2 * 16 * 16 / 2 * 2 * 16);
  const Ceiling forward = measure_attention_forward(sizes, kShort);
  const Ceiling backward = measure_attention_backward(sizes, kShort);
  EXPECT_EQ(backward.flops, 2 * forward.flops);
  EXPECT_THAT(forward.name, HasSubstr("attention forward b 1 heads 2/1 x 16 s 32"));
}

TEST_F(Ceilings, CountWhatACopyReadsAndWrites) {
  const Ceiling ceiling = measure_copy(1 << 20, kShort);
  EXPECT_EQ(ceiling.bytes, 2.0 * (1 << 20));
  EXPECT_THAT(ceiling_line(ceiling), HasSubstr("copy of 1 MiB"));
}

std::vector<Ceiling> of_linear(const LinearShape& shape, ProductNumbers numbers,
                               bool experts_on_device = true) {
  std::vector<Ceiling> ceilings;
  measure_linear(shape, experts_on_device, {0.003, nullptr, numbers},
                 [&](const Ceiling& ceiling) { ceilings.push_back(ceiling); });
  return ceilings;
}

TEST_F(Ceilings, AreOfTheElementsThatARunMultiplies) {
  const std::vector<Ceiling> fp8 = of_linear({"qkv", 32, 16, 48, 2}, ProductNumbers::fp8);
  ASSERT_EQ(fp8.size(), 3U);
  EXPECT_EQ(fp8[0].name, "gemm qkv forward 32x16x48 fp8_e4m3");
  EXPECT_EQ(fp8[1].name, "gemm qkv backward_input 32x16x48 fp8_e5m2") << "gradients";
  EXPECT_EQ(fp8[0].operation, "fp8_linear.forward");
  EXPECT_EQ(fp8[2].operation, "fp8_linear.backward_weight");
  EXPECT_EQ(fp8[2].flops, 2.0 * 32 * 16 * 48);
  const auto head = of_linear({"head", 32, 16, 48, 1, LinearKind::head}, ProductNumbers::fp8);
  EXPECT_EQ(head[0].operation, "linear.forward") << "is BF16 in every precision";
  EXPECT_THAT(head[0].name, HasSubstr("bf16"));
  const auto router = of_linear({"router", 32, 16, 8, 1, LinearKind::router}, ProductNumbers::bf16);
  EXPECT_EQ(router[0].operation, "router.logits");
  EXPECT_EQ(router[1].operation, "router.logits_backward");
  EXPECT_EQ(router[2].operation, "router.logits_backward");
  EXPECT_THAT(router[1].name, HasSubstr("float32"));
}

// The library's product an expert, and one launch for all: a profile is held against what it runs.
TEST_F(Ceilings, AreOfExpertsThatAreAllHereInBothWays) {
  LinearShape experts{"expert fc1", 8, 16, 24, 6, LinearKind::expert};
  experts.experts = 3;
  for (const bool on_device : {true, false}) {
    const auto ceilings = of_linear(experts, ProductNumbers::bf16, on_device);
    ASSERT_EQ(ceilings.size(), 6U);
    EXPECT_EQ(ceilings[0].operation, on_device ? "" : "grouped_linear.forward");
    EXPECT_EQ(ceilings[3].operation, on_device ? "grouped_linear.forward" : "");
    EXPECT_EQ(ceilings[3].name, "gemm expert fc1 forward 3 x 8x16x24 bf16, counted on the device");
    EXPECT_EQ(ceilings[3].flops, 3 * ceilings[0].flops);
    EXPECT_EQ(ceilings[3].count, 2) << "as often as the library's three";
    OpCeilings of_profile;
    for (const Ceiling& ceiling : ceilings) of_profile.add(ceiling);
    EXPECT_TRUE(of_profile.flops_per_s("grouped_linear.backward_weight"));
    EXPECT_FALSE(of_profile.flops_per_s("")) << "what is no operation of the run";
  }
}

TEST_F(Ceilings, AreOfExpertsInFp8InBothWays) {
  LinearShape experts{"expert fc2", 8, 48, 32, 6, LinearKind::expert};
  experts.experts = 3;
  const auto ceilings = of_linear(experts, ProductNumbers::fp8);
  ASSERT_EQ(ceilings.size(), 6U);
  EXPECT_EQ(ceilings[0].operation, "");
  EXPECT_EQ(ceilings[4].operation, "fp8_linear.backward_input");
  EXPECT_EQ(ceilings[4].name,
            "gemm expert fc2 backward_input 3 x 8x48x32 fp8_e5m2, counted on the device");
  EXPECT_EQ(of_linear(experts, ProductNumbers::mxfp8).size(), 3U) << "by the library alone";
}

// Weights and gradients of 64 experts, rows of them, and results: 64 (8 (256 + 256 + 256) 2 +
// 256 256 6) bytes.
TEST(CeilingsOfLittleMemory, SayWhatWasNotMeasuredAndWhy) {
  set_host_devices({.memory_bytes = std::int64_t{8} << 20});
  choose_device(0);
  LinearShape experts{"expert fc1", 8, 256, 256, 64, LinearKind::expert};
  experts.experts = 64;
  const auto ceilings = of_linear(experts, ProductNumbers::bf16);
  set_host_devices({});
  ASSERT_EQ(ceilings.size(), 6U);
  OpCeilings of_profile;
  for (const Ceiling& ceiling : ceilings) of_profile.add(ceiling);
  EXPECT_FALSE(of_profile.flops_per_s("grouped_linear.forward"));
  for (const std::size_t pass : {3, 4, 5}) {
    EXPECT_THAT(ceiling_line(ceilings[pass]),
                HasSubstr("8x256x256 bf16, counted on the device; not measured: its operands take "
                          "24.8 MiB, and of the device's memory "));
  }
}

TEST(CeilingsOfLittleMemory, AreToldOfAttentionAndCopiesToo) {
  const testing::ChangedDevices little({.memory_bytes = std::int64_t{1} << 20});
  choose_device(0);
  CeilingShapes shapes;
  shapes.attention = {.batch = 1, .head_count = 32, .group_count = 16, .head_size = 64};
  shapes.key_count = 256;
  for (std::int64_t position = 0; position < 256; ++position) shapes.positions.push_back(position);
  shapes.copy_bytes = std::int64_t{1} << 20;
  std::vector<std::string> lines;
  measure_ceilings(shapes, false, kShort,
                   [&](const Ceiling& ceiling) { lines.push_back(ceiling_line(ceiling)); });
  ASSERT_EQ(lines.size(), 3U);
  for (const std::size_t pass : {0, 1}) {
    EXPECT_THAT(lines[pass],
                HasSubstr("b 1 heads 32/16 x 64 s 256; not measured: its operands "
                          "take 6.0 MiB, and of the device's memory 1.0 MiB are free"));
  }
  EXPECT_THAT(lines[2], HasSubstr("copy of 1 MiB; not measured: its operands take 2.0 MiB"));
}

}  // namespace
}  // namespace llmb::runner::cuda
