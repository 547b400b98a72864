// What the double is for: work on streams runs as late as CUDA allows, so that what should have
// waited and does not is seen each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;

class LateStream : public ::testing::Test {
 protected:
  void SetUp() override {
    set_host_devices({.timing = HostTiming::late});
    choose_device(0);
  }
  void TearDown() override { set_host_devices({}); }
};

TEST_F(LateStream, RunsNothingUntilSomebodyWaits) {
  std::vector<unsigned char> bytes(100, 0);
  {
    const OwnedStream stream;
    fill_async(bytes.data(), 7, bytes.size(), stream);
    EXPECT_THAT(bytes, Each(0));
    synchronize(stream);
    EXPECT_THAT(bytes, Each(7));
    fill_async(bytes.data(), 8, bytes.size(), stream);
  }
  EXPECT_THAT(bytes, Each(8)) << "a stream ends what it was given";
}

TEST_F(LateStream, ShowsAWaitThatIsMissing) {
  std::vector<unsigned char> bytes(100, 0);
  std::vector<unsigned char> seen(100, 1);
  const OwnedStream first;
  const OwnedStream second;
  fill_async(bytes.data(), 7, bytes.size(), first);
  copy_async(seen.data(), bytes.data(), bytes.size(), CopyDirection::within_device, second);
  synchronize(second);
  EXPECT_THAT(seen, Each(0)) << "what was there before the first stream's work";
  order_streams(first, second);
  copy_async(seen.data(), bytes.data(), bytes.size(), CopyDirection::within_device, second);
  synchronize(second);
  EXPECT_THAT(seen, Each(7));
}

TEST_F(LateStream, RunsAsFarAsAnEvent) {
  unsigned char first_byte = 0;
  unsigned char second_byte = 0;
  const OwnedStream stream;
  Event between;
  fill_async(&first_byte, 1, 1, stream);
  between.record(stream);
  fill_async(&second_byte, 2, 1, stream);
  between.synchronize();
  EXPECT_EQ(first_byte, 1);
  EXPECT_EQ(second_byte, 0);
}

TEST_F(LateStream, KeepsItsError) {
  const auto raise = [] { throw DeviceError("do this", "cudaErrorUnknown", "", ""); };
  const OwnedStream first;
  const OwnedStream second;
  unsigned char byte = 0;
  put_on_stream(first, raise);
  fill_async(&byte, 1, 1, first);
  order_streams(first, second);
  EXPECT_THAT([&] { synchronize(second); },
              ThrowsMessage<DeviceError>("Could not do this: cudaErrorUnknown."));
  EXPECT_THROW(synchronize(first), DeviceError);
  EXPECT_EQ(byte, 0) << "nothing runs after an error";
}

TEST_F(LateStream, RefusesAStreamThatIsNone) {
  auto* const none = reinterpret_cast<Stream>(this);
  EXPECT_THROW(synchronize(none), std::logic_error);
}

// The order of streams stands, so that calls of several ranks meet as they would.
TEST(DroppingStream, WaitsForOtherStreams) {
  set_host_devices({.timing = HostTiming::never});
  choose_device(0);
  {
    const OwnedStream first;
    const OwnedStream second;
    std::promise<void> go_on;
    put_on_stream(first, [gate = go_on.get_future().share()] { gate.wait(); });
    order_streams(first, second);
    EXPECT_FALSE(is_done(second));
    go_on.set_value();
    synchronize(second);
    EXPECT_TRUE(is_done(first));
  }
  set_host_devices({});
}

// Events and waits take place, so that programs go on.
TEST(DroppingStream, RunsNoWork) {
  set_host_devices({.timing = HostTiming::never});
  choose_device(0);
  std::vector<unsigned char> bytes(100, 0);
  {
    const OwnedStream stream;
    fill_async(bytes.data(), 7, bytes.size(), stream);
    Event event;
    event.record(stream);
    event.synchronize();
    synchronize(stream);
  }
  EXPECT_THAT(bytes, Each(0));
  set_host_devices({});
}

}  // namespace
}  // namespace llmb::runner::cuda
