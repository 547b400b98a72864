// The double's collectives on streams that run late: members that wait let the others run, and a
// buffer that is used before its call has run is seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runner/cuda/device_error.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/stream.h"
#include "tests/patience.h"
#include "tests/runner/cuda/device_ranks.h"
#include "tests/runner/cuda/double_memory.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using Numbers = testing::DoubleMemory<float>;

class LateCollectives : public ::testing::Test {
 protected:
  void SetUp() override { set_host_devices({.timing = HostTiming::late}); }
  void TearDown() override { set_host_devices({}); }
};

// Rank 1 never waits for its stream before rank 0 says that it has what it needs.
TEST_F(LateCollectives, LetTheOthersRunOnceAMemberWaits) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_finished = false;
  const auto errors = testing::run_ranks(2, [&](DeviceCommunicator& world) {
    const Numbers sum(1, static_cast<float>(world.rank() + 1));
    const OwnedStream stream;
    world.all_reduce(sum.data(), sum.data(), 1, NumberType::float32, Reduction::sum, stream);
    if (world.rank() == 0) {
      synchronize(stream);
      const std::lock_guard lock(mutex);
      is_finished = true;
      changed.notify_all();
    } else {
      std::unique_lock lock(mutex);
      EXPECT_TRUE(changed.wait_for(lock, kTestPatience, [&] { return is_finished; }));
      lock.unlock();
      synchronize(stream);
    }
    EXPECT_EQ(sum.front(), 3);
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_F(LateCollectives, ShowThatNobodyWaited) {
  std::barrier both(2);
  const auto errors = testing::run_ranks(2, [&](DeviceCommunicator& world) {
    const Numbers sum(1, 1.0F);
    const OwnedStream stream;
    const OwnedStream other;
    world.all_reduce(sum.data(), sum.data(), 1, NumberType::float32, Reduction::sum, stream);
    synchronize(other);
    EXPECT_EQ(sum.front(), 1) << "nothing made it run";
    both.arrive_and_wait();
    synchronize(stream);
    EXPECT_EQ(sum.front(), 2);
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_F(LateCollectives, TellCallsThatDoNotMatch) {
  const auto errors = testing::run_ranks(2, [&](DeviceCommunicator& world) {
    const Numbers values(4, 0.0F);
    const OwnedStream stream;
    world.all_reduce(values.data(), values.data(), world.rank() + 1, NumberType::float32,
                     Reduction::sum, stream);
    synchronize(stream);
  });
  EXPECT_THAT(errors, Each(HasSubstr("ranks 0 and 1 make different calls: 1 and 2 elements")));
}

}  // namespace
}  // namespace llmb::runner::cuda
