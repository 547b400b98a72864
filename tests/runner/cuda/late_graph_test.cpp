// Graphs of the double where a stream runs nothing before somebody waits for it; and what the
// double alone is sure to refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/graph.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "tests/runner/cuda/device_ranks.h"
#include "tests/runner/cuda/double_memory.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using Bytes = testing::DoubleMemory<unsigned char>;

class LateGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    set_host_devices({.timing = HostTiming::late});
    choose_device(0);
  }
  void TearDown() override { set_host_devices({}); }
};

TEST_F(LateGraph, RunsOnceSomebodyWaits) {
  const Bytes bytes(100, 0);
  const OwnedStream stream;
  GraphCapture capture(stream);
  fill_async(bytes.data(), 7, bytes.size(), stream);
  const Graph graph = capture.end();
  const std::int64_t launches = host_calls().launches;
  graph.launch(stream);
  EXPECT_EQ(host_calls().launches, launches + 1);
  EXPECT_THAT(bytes.values(), Each(0));
  synchronize(stream);
  EXPECT_THAT(bytes.values(), Each(7));
}

// CUDA takes such a copy sometimes, and then it is not what it seems.
TEST_F(LateGraph, RefusesCopiesOfMemoryThatIsNotPinned) {
  const Bytes bytes(100, 0);
  const OwnedStream stream;
  std::vector<unsigned char> host(100, 1);
  for (const bool is_to_device : {false, true}) {
    GraphCapture capture(stream);
    EXPECT_THROW(is_to_device
                     ? copy_async(bytes.data(), host.data(), 100, CopyDirection::to_device, stream)
                     : copy_async(host.data(), bytes.data(), 100, CopyDirection::to_host, stream),
                 DeviceError);
  }
  const PinnedMemory pinned(100);
  GraphCapture capture(stream);
  copy_async(pinned.data(), bytes.data(), 100, CopyDirection::to_host, stream);
  EXPECT_EQ(capture.end().node_count(), 1);
}

// Rank 1 does not wait for its stream before rank 0 has what it needs, twice.
TEST_F(LateGraph, LetsTheOthersRunItsCollectives) {
  std::barrier both(2);
  const auto errors = testing::run_ranks(2, [&](DeviceCommunicator& world) {
    const testing::DoubleMemory<float> sum(1, static_cast<float>(world.rank() + 1));
    const OwnedStream stream;
    GraphCapture capture(stream);
    world.all_reduce(sum.data(), sum.data(), 1, NumberType::float32, Reduction::sum, stream);
    world.all_reduce(sum.data(), sum.data(), 1, NumberType::float32, Reduction::sum, stream);
    const Graph graph = capture.end();
    EXPECT_EQ(graph.node_count(), 2);
    for (const float expected : {6.0F, 24.0F}) {
      graph.launch(stream);
      if (world.rank() == 0) synchronize(stream);
      both.arrive_and_wait();
      synchronize(stream);
      EXPECT_EQ(sum.front(), expected);
    }
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_F(LateGraph, IsLostWithMemoryThatIsGivenBack) {
  const OwnedStream stream;
  DeviceMemory memory(100);
  GraphCapture capture(stream);
  memory = {};
  EXPECT_THROW(capture.end(), DeviceError);
}

}  // namespace
}  // namespace llmb::runner::cuda
