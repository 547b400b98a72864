// Ceilings on the double: that what is measured is counted as it is said, not how fast it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cuda/ceilings.h"
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

}  // namespace
}  // namespace llmb::runner::cuda
