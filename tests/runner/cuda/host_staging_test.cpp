// HostStaging over the double: bytes stay until they were copied, however late that is, and nothing
// is pinned but what the ring needs.
#include "runner/cuda/host_staging.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/host_device.h"

namespace llmb::runner::cuda {
namespace {

class Staging : public ::testing::Test {
 protected:
  void SetUp() override {
    set_host_devices({.timing = HostTiming::late});
    choose_device(0);
  }
  void TearDown() override { set_host_devices({}); }
};

TEST_F(Staging, KeepsWhatWasWrittenUntilItIsCopied) {
  constexpr std::size_t kRing = 4096;
  const OwnedStream stream;
  HostStaging staging(kRing);
  const std::int64_t pinned = host_calls().pinned;
  std::mt19937 random(1);
  std::vector<std::byte> expected;
  const DeviceMemory device(std::size_t{1} << 18);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::byte> bytes(1 + random() % 800);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 256);
    staging.write(bytes.data(), device.data() + expected.size(), bytes.size(), stream);
    expected.insert(expected.end(), bytes.begin(), bytes.end());
    bytes.assign(bytes.size(), std::byte{0});
  }
  EXPECT_EQ(host_calls().pinned, pinned);
  std::vector<std::byte> copied(expected.size());
  copy_async(copied.data(), device.data(), copied.size(), CopyDirection::to_host, stream);
  synchronize(stream);
  EXPECT_EQ(copied, expected);
}

TEST_F(Staging, WaitsForTheStreamOnlyWhereTheRingIsFull) {
  constexpr std::size_t kRing = 4096;
  const OwnedStream stream;
  HostStaging staging(kRing);
  const DeviceMemory device(kRing);
  const std::vector<std::byte> bytes(256, std::byte{1});
  const std::int64_t waits = host_calls().waits;
  for (std::size_t i = 0; i < kRing / bytes.size(); ++i) {
    staging.write(bytes.data(), device.data(), bytes.size(), stream);
  }
  EXPECT_EQ(host_calls().waits, waits);
}

TEST_F(Staging, GrowsForWhatIsLarger) {
  const OwnedStream stream;
  HostStaging staging(256);
  const std::vector<std::byte> bytes(1000, std::byte{7});
  const DeviceMemory device(bytes.size());
  const std::int64_t pinned = host_calls().pinned;
  for (int i = 0; i < 3; ++i) staging.write(bytes.data(), device.data(), bytes.size(), stream);
  EXPECT_EQ(host_calls().pinned, pinned + 1);
  std::vector<std::byte> copied(bytes.size());
  copy_async(copied.data(), device.data(), copied.size(), CopyDirection::to_host, stream);
  synchronize(stream);
  EXPECT_EQ(copied, bytes);
}

}  // namespace
}  // namespace llmb::runner::cuda
