// A profile by the device's clock: operations by name, one inside another counted once, however far
// the device is behind; and what an outer profiler is told.
#include "runner/cuda/device_profile.h"

#include <gtest/gtest.h>

#include "runner/cuda/host_device.h"
#include "runner/cuda/memory.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

using DeviceProfiles = testing::OnDevice;

struct Work {
  OwnedStream stream;
  DeviceProfile profile;
  DeviceMemory memory{1024};

  void fill(const char* name) {
    const OpRange op(profile, name, stream);
    fill_async(memory.data(), 1, memory.bytes(), stream);
  }
};

TEST_F(DeviceProfiles, CountOperationsByName) {
  Work work;
  work.fill("before");
  work.profile.begin(work.stream);
  work.fill("one");
  work.fill("one");
  {
    const OpRange outer(work.profile, "outer", work.stream);
    work.fill("inside another");
  }
  const cpu::OpTable table = work.profile.end(work.stream);
  work.fill("after");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.at("one").calls, 2);
  EXPECT_EQ(table.at("outer").calls, 1);
  EXPECT_GT(table.at("one").time_s, 0);
  work.profile.begin(work.stream);
  EXPECT_TRUE(work.profile.end(work.stream).empty());
}

TEST_F(DeviceProfiles, CountMoreThanAreKeptUnderWay) {
  Work work;
  work.profile.begin(work.stream);
  for (int i = 0; i < 10'000; ++i) work.fill("many");
  EXPECT_EQ(work.profile.end(work.stream).at("many").calls, 10'000);
}

TEST_F(DeviceProfiles, AreTheWindowOfAnOuterProfiler) {
  const HostProfiler before = host_profiler();
  Work work;
  work.fill("before");
  work.profile.begin(work.stream);
  EXPECT_TRUE(host_profiler().is_started);
  work.fill("inside");
  static_cast<void>(work.profile.end(work.stream));
  work.fill("after");
  const HostProfiler told = host_profiler();
  EXPECT_FALSE(told.is_started);
  EXPECT_EQ(told.starts - before.starts, 1);
  EXPECT_EQ(told.ranges - before.ranges, 1);
  EXPECT_EQ(told.open_ranges, 0);
}

}  // namespace
}  // namespace llmb::runner::cuda
