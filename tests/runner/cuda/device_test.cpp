// Devices, memory, streams and events: the contract, on the double and on a device alike; and what
// only the double can show, that a missing wait is seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/kernels/elementwise.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class Device : public testing::OnDevice {};

DeviceMemory on_device(const std::vector<float>& values, Stream stream) {
  DeviceMemory memory(values.size() * sizeof(float));
  copy_async(memory.data(), values.data(), memory.bytes(), CopyDirection::to_device, stream);
  synchronize(stream);
  return memory;
}

std::vector<float> on_host(const DeviceMemory& memory, Stream stream) {
  std::vector<float> values(memory.bytes() / sizeof(float));
  copy_async(values.data(), memory.data(), memory.bytes(), CopyDirection::to_host, stream);
  synchronize(stream);
  return values;
}

TEST_F(Device, KeepsWhatIsCopiedToIt) {
  const OwnedStream stream;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const DeviceMemory memory = on_device(values, stream);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0U);
  EXPECT_EQ(on_host(memory, stream), values);
  const DeviceMemory some(4 * sizeof(float));
  copy_async(some.data(), memory.data() + sizeof(float), some.bytes(), CopyDirection::within_device,
             stream);
  EXPECT_EQ(on_host(some, stream), (std::vector<float>{2, 3, 4, 5}));
  fill_async(some.data(), 0, some.bytes(), stream);
  EXPECT_THAT(on_host(some, stream), Each(0.0F));
}

TEST_F(Device, SaysHowMuchMemoryIsLeft) {
  const MemoryInfo before = memory_info();
  constexpr std::size_t kBytes = 64U << 20U;
  const DeviceMemory memory(kBytes);
  const MemoryInfo after = memory_info();
  EXPECT_EQ(before.total_bytes, after.total_bytes);
  EXPECT_GE(before.free_bytes - after.free_bytes, static_cast<std::int64_t>(kBytes));
  // A driver may keep some to itself.
  EXPECT_NEAR(
      static_cast<double>(current_device().memory_bytes) / static_cast<double>(after.total_bytes),
      1, 0.02);
}

TEST_F(Device, RefusesMoreMemoryThanItHas) {
  const auto bytes = static_cast<std::size_t>(memory_info().total_bytes) + (std::size_t{1} << 30);
  try {
    const DeviceMemory memory(bytes);
    FAIL() << "was allocated";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("Could not allocate " + std::to_string(bytes)));
    EXPECT_THAT(error.what(), HasSubstr("out of memory"));
  }
  const DeviceMemory small(256);  // and goes on
}

TEST_F(Device, RunsAStreamInItsOrder) {
  const OwnedStream stream;
  const DeviceMemory memory(sizeof(float) * 1000);
  for (int i = 1; i <= 20; ++i) {
    fill_async(memory.data(), static_cast<std::uint8_t>(i), memory.bytes(), stream);
  }
  std::vector<std::uint8_t> bytes(memory.bytes());
  copy_async(bytes.data(), memory.data(), bytes.size(), CopyDirection::to_host, stream);
  synchronize(stream);
  EXPECT_THAT(bytes, Each(20));
}

TEST_F(Device, OrdersStreamsByEvents) {
  const OwnedStream first;
  const OwnedStream second(StreamPriority::high);
  const DeviceMemory memory(sizeof(float) * 100000);
  std::vector<std::uint8_t> bytes(memory.bytes());
  for (int i = 1; i <= 10; ++i) {
    fill_async(memory.data(), static_cast<std::uint8_t>(i), memory.bytes(), first);
    order_streams(first, second);
    copy_async(bytes.data(), memory.data(), bytes.size(), CopyDirection::to_host, second);
    order_streams(second, first);
  }
  synchronize(second);
  EXPECT_THAT(bytes, Each(10));
}

TEST_F(Device, TellsTheTimeBetweenEvents) {
  const OwnedStream stream;
  const DeviceMemory memory(64U << 20U);
  Event begin(Event::Timing::with);
  Event end(Event::Timing::with);
  EXPECT_TRUE(begin.is_done()) << "never recorded";
  begin.record(stream);
  fill_async(memory.data(), 1, memory.bytes(), stream);
  end.record(stream);
  end.synchronize();
  EXPECT_TRUE(end.is_done());
  EXPECT_GT(Event::seconds_between(begin, end), 0);
  EXPECT_LT(Event::seconds_between(begin, end), 10);
}

TEST_F(Device, RunsKernelsOnItsStreams) {
  const OwnedStream stream;
  const DeviceMemory x = on_device({1, 2, 3}, stream);
  const DeviceMemory y = on_device({10, 20, 30}, stream);
  kernels::scaled_copy<float, float>({.x = {reinterpret_cast<const float*>(x.data()), 1, 3},
                                      .y = {reinterpret_cast<float*>(y.data()), 1, 3},
                                      .addend = {reinterpret_cast<float*>(y.data()), 1, 3}},
                                     stream);
  EXPECT_EQ(on_host(y, stream), (std::vector<float>{11, 22, 33}));
}

// sm_90 is there in every build; of sm_103 there is no code of its own.
TEST(DeviceChoice, IsRefusedWhereThisProgramHasNoCodeForIt) {
  const auto refusal_of = [](const char* name, int compute_capability) -> std::string {
    DeviceInfo device;
    device.name = name;
    device.compute_capability = compute_capability;
    try {
      require_kernels_for(device);
    } catch (const NoDevice& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal_of("NVIDIA H200", 90), "");
  const bool has_blackwell = kernel_architectures().back() == 100;
  EXPECT_EQ(refusal_of("NVIDIA B200", 100).empty(), has_blackwell);
  EXPECT_EQ(refusal_of("NVIDIA GB300", 103).empty(), has_blackwell);
  EXPECT_THAT(refusal_of("NVIDIA L4", 89),
              HasSubstr("Could not compute on device 0 (NVIDIA L4): it is sm_89, this program has "
                        "code for sm_90"));
  EXPECT_NE(refusal_of("NVIDIA GeForce RTX 5090", 120), "");
}

TEST(DeviceChoice, GoesByTheRanksPlaceOnItsNode) {
  EXPECT_EQ(device_for(3, {4, ""}), 3);
  EXPECT_EQ(device_for(3, {1, ""}), 0) << "a launcher showed this rank its own device only";
  try {
    device_for(4, {4, ""});
    FAIL() << "there is no fifth device";
  } catch (const NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("the rank with the local number 4: this node shows 4"));
  }
  try {
    device_for(0, {0, "no driver is loaded"});
    FAIL() << "there is no device";
  } catch (const NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("no device, no driver is loaded. Start the run on"));
  }
}

}  // namespace
}  // namespace llmb::runner::cuda
