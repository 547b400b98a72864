// What both ways to multiply experts take, as the double tells and measures it.
#include "runner/cuda/expert_tuning.h"

#include <gtest/gtest.h>

#include "runner/cuda/device.h"
#include "runner/cuda/host_device.h"
#include "tests/runner/cuda/changed_devices.h"

namespace llmb::runner::cuda {
namespace {

constexpr auto kInTime = std::chrono::steady_clock::time_point::max();

std::vector<LinearShape> layer() {
  std::vector<LinearShape> experts = {{"expert fc1", 8, 16, 48, 6, LinearKind::expert},
                                      {"expert fc2", 8, 24, 16, 6, LinearKind::expert}};
  for (LinearShape& linear : experts) linear.experts = 3;
  return experts;
}

// Three experts, two linear layers, three products.
TEST(ExpertTuning, CountsTheLibraryAnExpertAtATime) {
  const testing::ChangedDevices told({.product_times_s = {2.0, 1.0}});
  choose_device(0);
  const OwnedStream stream;
  const ExpertTimes times = *time_experts(layer(), ProductNumbers::bf16, stream, kInTime);
  EXPECT_DOUBLE_EQ(times.library_s, 3 * 2 * 3 * 2.0 + times.wait_s) << "by its suggestions";
  EXPECT_GT(times.wait_s, 0);
  EXPECT_GT(times.one_launch_s, 0);
  const ExpertTimes fp8 = *time_experts(layer(), ProductNumbers::fp8, stream, kInTime);
  EXPECT_DOUBLE_EQ(fp8.library_s, 3 * 2 * 3 * 2.0 + fp8.wait_s);
  EXPECT_GT(fp8.one_launch_s, 0);
}

TEST(ExpertTuning, HasNoAnswerWhereTheTimeIsOver) {
  const testing::ChangedDevices devices(HostDeviceOptions{});
  choose_device(0);
  const OwnedStream stream;
  EXPECT_FALSE(time_experts(layer(), ProductNumbers::bf16, stream,
                            std::chrono::steady_clock::time_point::min()));
}

TEST(ExpertTuning, GivesItsMemoryBack) {
  const testing::ChangedDevices devices(HostDeviceOptions{});
  choose_device(0);
  const OwnedStream stream;
  const std::int64_t free_bytes = memory_info().free_bytes;
  for (const ProductNumbers numbers : {ProductNumbers::bf16, ProductNumbers::fp8}) {
    EXPECT_TRUE(time_experts(layer(), numbers, stream, kInTime));
  }
  EXPECT_EQ(memory_info().free_bytes, free_bytes);
}

TEST(ExpertTuning, NamesWhatDecides) {
  std::vector<LinearShape> experts = layer();
  EXPECT_EQ(expert_key(experts, ProductNumbers::bf16), "3 experts of 8 rows: 16 to 48, 24 to 16");
  EXPECT_EQ(expert_key(experts, ProductNumbers::fp8),
            "3 experts of 8 rows in FP8: 16 to 48, 24 to 16");
  experts[0].rows = experts[1].rows = 9;
  EXPECT_EQ(expert_key(experts, ProductNumbers::bf16), "3 experts of 9 rows: 16 to 48, 24 to 16");
}

}  // namespace
}  // namespace llmb::runner::cuda
