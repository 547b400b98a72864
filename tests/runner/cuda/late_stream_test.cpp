// What the double is for: work on streams runs as late as CUDA allows, so that what should have
// waited and does not is seen each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "tests/runner/cuda/double_memory.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;
using Bytes = testing::DoubleMemory<unsigned char>;

class LateStream : public ::testing::Test {
 protected:
  void SetUp() override {
    set_host_devices({.timing = HostTiming::late});
    choose_device(0);
  }
  void TearDown() override { set_host_devices({}); }
};

TEST_F(LateStream, RunsNothingUntilSomebodyWaits) {
  const Bytes bytes(100, 0);
  {
    const OwnedStream stream;
    fill_async(bytes.data(), 7, bytes.size(), stream);
    EXPECT_THAT(bytes.values(), Each(0));
    synchronize(stream);
    EXPECT_THAT(bytes.values(), Each(7));
    fill_async(bytes.data(), 8, bytes.size(), stream);
  }
  EXPECT_THAT(bytes.values(), Each(8)) << "a stream ends what it was given";
}

TEST_F(LateStream, ShowsAWaitThatIsMissing) {
  const Bytes bytes(100, 0);
  const Bytes seen(100, 1);
  const OwnedStream first;
  const OwnedStream second;
  fill_async(bytes.data(), 7, bytes.size(), first);
  copy_async(seen.data(), bytes.data(), bytes.size(), CopyDirection::within_device, second);
  synchronize(second);
  EXPECT_THAT(seen.values(), Each(0)) << "what was there before the first stream's work";
  order_streams(first, second);
  copy_async(seen.data(), bytes.data(), bytes.size(), CopyDirection::within_device, second);
  synchronize(second);
  EXPECT_THAT(seen.values(), Each(7));
}

TEST_F(LateStream, RunsAsFarAsAnEvent) {
  const Bytes first_byte(1, 0);
  const Bytes second_byte(1, 0);
  const OwnedStream stream;
  Event between;
  fill_async(first_byte.data(), 1, 1, stream);
  between.record(stream);
  fill_async(second_byte.data(), 2, 1, stream);
  between.synchronize();
  EXPECT_EQ(first_byte.front(), 1);
  EXPECT_EQ(second_byte.front(), 0);
}

TEST_F(LateStream, KeepsItsError) {
  const auto raise = [] { throw DeviceError("do this", "cudaErrorUnknown", "", ""); };
  const Bytes byte(1, 0);
  const OwnedStream first;
  const OwnedStream second;
  put_on_stream(first, raise);
  fill_async(byte.data(), 1, 1, first);
  order_streams(first, second);
  EXPECT_THAT([&] { synchronize(second); },
              ThrowsMessage<DeviceError>("Could not do this: cudaErrorUnknown."));
  EXPECT_THROW(synchronize(first), DeviceError);
  EXPECT_EQ(byte.front(), 0) << "nothing runs after an error";
}

// CUDA's calls would refuse it, or read what it is not.
TEST_F(LateStream, TakesMemoryOfTheThreadsDeviceOnly) {
  const Bytes here(100, 1);
  unsigned char on_host[100] = {};
  const OwnedStream stream;  // ends first, for its copies use both
  const auto copy = [&](void* to, const void* from, std::size_t bytes, CopyDirection direction) {
    copy_async(to, from, bytes, direction, stream);
  };
  EXPECT_NO_THROW(copy(here.data(), on_host, 100, CopyDirection::to_device));
  EXPECT_NO_THROW(copy(on_host, here.data() + 1, 99, CopyDirection::to_host));
  EXPECT_THROW(copy(on_host, here.data(), 100, CopyDirection::to_device), std::logic_error);
  EXPECT_THROW(copy(here.data(), on_host, 100, CopyDirection::within_device), std::logic_error);
  EXPECT_THROW(copy(on_host, here.data() + 1, 100, CopyDirection::to_host), std::logic_error);
  EXPECT_THROW(fill_async(on_host, 0, 1, stream), std::logic_error);
  choose_device(1);
  EXPECT_THROW(fill_async(here.data(), 0, 1, stream), std::logic_error);
  choose_device(0);
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
    Event before;
    before.record(first);
    order_streams(first, second);
    Event after;
    after.record(second);
    EXPECT_FALSE(after.is_done());
    go_on.set_value();
    synchronize(second);
    EXPECT_TRUE(before.is_done());
  }
  set_host_devices({});
}

// Events and waits take place, so that programs go on.
TEST(DroppingStream, RunsNoWork) {
  set_host_devices({.timing = HostTiming::never});
  choose_device(0);
  const Bytes bytes(100, 0);
  {
    const OwnedStream stream;
    fill_async(bytes.data(), 7, bytes.size(), stream);
    Event event;
    event.record(stream);
    event.synchronize();
    synchronize(stream);
  }
  EXPECT_THAT(bytes.values(), Each(0));
  set_host_devices({});
}

}  // namespace
}  // namespace llmb::runner::cuda
