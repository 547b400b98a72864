// Collectives between devices: what arrives where, in what order, in place and not; and how a group
// ends that has lost a member. With one GPU only the cases of one rank run on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "runner/cuda/device_error.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "tests/patience.h"
#include "tests/runner/cuda/device_ranks.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr NumberType kFloat = NumberType::float32;

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const DeviceCount devices = count_devices();
    if (devices.count == 0) GTEST_SKIP() << "No device: " << devices.why_none;
    if (devices.count < GetParam()) {
      GTEST_SKIP() << GetParam() << " ranks need a device each; there are " << devices.count;
    }
  }
};

std::string name_of_ranks(const ::testing::TestParamInfo<int>& ranks) {
  return std::to_string(ranks.param) + "Ranks";
}

// Floats of this rank's device.
class Floats {
 public:
  Floats(const std::vector<float>& values, Stream stream)
      : memory_(values.size() * sizeof(float)), stream_(stream) {
    copy_async(memory_.data(), values.data(), memory_.bytes(), CopyDirection::to_device, stream);
    synchronize(stream);
  }
  float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  std::vector<float> read() const {
    std::vector<float> values(memory_.bytes() / sizeof(float));
    copy_async(values.data(), memory_.data(), memory_.bytes(), CopyDirection::to_host, stream_);
    synchronize(stream_);
    return values;
  }

 private:
  DeviceMemory memory_;
  Stream stream_;
};

float number(int value) {
  return static_cast<float>(value);
}

std::vector<float> constant(int count, int value) {
  return std::vector<float>(static_cast<std::size_t>(count), number(value));
}

TEST_P(Collectives, Reduce) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    const Floats mine(constant(5, world.rank() + 1), stream);
    const Floats sums(constant(5, -1), stream);
    world.all_reduce(mine.data(), sums.data(), 5, kFloat, Reduction::sum, stream);
    world.all_reduce(mine.data(), mine.data(), 5, kFloat, Reduction::max, stream);
    EXPECT_THAT(sums.read(), Each(static_cast<float>(size * (size + 1) / 2)));
    EXPECT_THAT(mine.read(), Each(static_cast<float>(size)));

    std::vector<float> blocks;
    for (int member = 0; member < size; ++member) blocks.insert(blocks.end(), 2, number(member));
    const Floats all(blocks, stream);
    const Floats part(constant(2, -1), stream);
    world.reduce_scatter(all.data(), part.data(), 2, kFloat, stream);
    EXPECT_THAT(part.read(), Each(static_cast<float>(size * world.rank())));
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(Collectives, ReduceBf16InFp32) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    const std::vector<kernels::Bf16> mine(3, kernels::from_float<kernels::Bf16>(1.5F));
    const DeviceMemory memory(mine.size() * sizeof(kernels::Bf16));
    copy_async(memory.data(), mine.data(), memory.bytes(), CopyDirection::to_device, stream);
    world.all_reduce(memory.data(), memory.data(), 3, NumberType::bf16, Reduction::sum, stream);
    std::vector<kernels::Bf16> sums(3);
    copy_async(sums.data(), memory.data(), memory.bytes(), CopyDirection::to_host, stream);
    synchronize(stream);
    for (const kernels::Bf16 sum : sums) {
      EXPECT_EQ(kernels::to_float(sum), 1.5F * static_cast<float>(size));
    }
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(Collectives, GatherAndBroadcast) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    const Floats all(constant(2 * size, -1), stream);
    const Floats mine(constant(2, world.rank() + 10), stream);
    world.all_gather(mine.data(), all.data(), 2, kFloat, stream);
    std::vector<float> expected;
    for (int member = 0; member < size; ++member)
      expected.insert(expected.end(), 2, number(10 + member));
    EXPECT_EQ(all.read(), expected);
    const int root = size - 1;
    world.broadcast(mine.data(), 2, kFloat, root, stream);
    EXPECT_THAT(mine.read(), Each(static_cast<float>(root + 10)));
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(Collectives, GatherInPlace) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    const Floats all(constant(size, world.rank()), stream);
    world.all_gather(all.data() + world.rank(), all.data(), 1, kFloat, stream);
    std::vector<float> expected(static_cast<std::size_t>(size));
    std::iota(expected.begin(), expected.end(), 0.0F);
    EXPECT_EQ(all.read(), expected);
    world.reduce_scatter(all.data(), all.data() + world.rank(), 1, kFloat, stream);
    EXPECT_EQ(all.read()[static_cast<std::size_t>(world.rank())],
              static_cast<float>(size * world.rank()));
  });
  EXPECT_THAT(errors, Each(""));
}

// Rank i sends 1 + (i + j) % 3 elements to rank j.
TEST_P(Collectives, ExchangeUnevenBlocks) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    std::vector<std::int64_t> counts;
    std::vector<float> sent;
    std::vector<float> expected;
    for (int member = 0; member < size; ++member) {
      const int count = 1 + (world.rank() + member) % 3;
      counts.push_back(count);
      sent.insert(sent.end(), static_cast<std::size_t>(count), number(100 * world.rank() + member));
      expected.insert(expected.end(), static_cast<std::size_t>(count),
                      number(100 * member + world.rank()));
    }
    const Floats from(sent, stream);
    const Floats to(constant(static_cast<int>(expected.size()), -1), stream);
    world.all_to_all(from.data(), counts, to.data(), counts, kFloat, stream);
    EXPECT_EQ(to.read(), expected);
  });
  EXPECT_THAT(errors, Each(""));
}

// Everybody sends to the next one and hears from the one before, on one stream: only a group lets
// that end.
TEST_P(Collectives, SendsAroundInOneGroup) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const OwnedStream stream;
    const Floats mine(constant(4, world.rank()), stream);
    const Floats other(constant(4, -1), stream);
    const int before = (world.rank() + size - 1) % size;
    CallGroup group;
    world.send(mine.data(), 4, kFloat, (world.rank() + 1) % size, stream);
    world.receive(other.data(), 4, kFloat, before, stream);
    group.end();
    EXPECT_THAT(other.read(), Each(static_cast<float>(before)));
  });
  EXPECT_THAT(errors, Each(""));
}

class CollectivesOfFour : public Collectives {};
class CollectivesOfTwo : public Collectives {};
class CollectivesOfSeveral : public Collectives {};

TEST_P(CollectivesOfFour, SplitIntoGroups) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [size](DeviceCommunicator& world) {
    const int first = world.rank() / 2 * 2;
    const auto pair = world.split("tp", {first, first + 1}, CommunicatorUse::collectives);
    const OwnedStream stream;
    const Floats mine(constant(2, world.rank()), stream);
    pair->all_reduce(mine.data(), mine.data(), 2, kFloat, Reduction::sum, stream);
    EXPECT_THAT(mine.read(), Each(static_cast<float>(2 * first + 1)));
    EXPECT_EQ(pair->size(), 2);
    EXPECT_EQ(pair->rank(), world.rank() % 2);
    const bool is_even = world.rank() % 2 == 0;
    std::vector<int> evens;
    for (int rank = 0; rank < size; rank += 2) evens.push_back(rank);
    const auto even =
        world.split("dp", is_even ? evens : std::vector<int>(), CommunicatorUse::collectives);
    EXPECT_EQ(even != nullptr, is_even);
  });
  EXPECT_THAT(errors, Each(""));
}

// Sends that wait for their receivers, a stream and a communicator a direction.
TEST_P(CollectivesOfTwo, SendsBothWaysOnTwoStreams) {
  const int size = GetParam();
  const auto errors = testing::run_ranks(size, [](DeviceCommunicator& world) {
    const auto up = world.split("up", {0, 1}, CommunicatorUse::messages);
    const auto down = world.split("down", {0, 1}, CommunicatorUse::messages);
    const OwnedStream up_stream;
    const OwnedStream down_stream;
    const Floats mine(constant(3, world.rank()), up_stream);
    const Floats other(constant(3, -1), down_stream);
    const bool is_first = world.rank() == 0;
    (is_first ? up : down)
        ->send(mine.data(), 3, kFloat, is_first ? 1 : 0, is_first ? up_stream : down_stream);
    (is_first ? down : up)
        ->receive(other.data(), 3, kFloat, is_first ? 1 : 0, is_first ? down_stream : up_stream);
    synchronize(up_stream);
    synchronize(down_stream);
    EXPECT_THAT(other.read(), Each(is_first ? 1.0F : 0.0F));
  });
  EXPECT_THAT(errors, Each(""));
}

// A profiler that stops on one rank, or cold libraries, take minutes; PyTorch waits as long.
TEST(CollectivesOptions, AreAsPatientAsAMemberMayBeSlow) {
  EXPECT_GE(CommunicatorOptions().patience, std::chrono::minutes(10));
}

// With NCCL the first call connects the members, by their hosts: who leaves has been there for it.
void call_all(DeviceCommunicator& world) {
  const OwnedStream stream;
  const Floats mine(constant(2, 1), stream);
  world.all_reduce(mine.data(), mine.data(), 2, kFloat, Reduction::sum, stream);
  synchronize(stream);
}

TEST_P(CollectivesOfSeveral, EndWhenAMemberDoesNotCome) {
  const int size = GetParam();
  CommunicatorOptions options;
  // To join takes time, too, where it is NCCL.
  const bool is_double = collectives_library().starts_with("threads");
  options.patience = std::chrono::milliseconds(is_double ? 300 : 20'000);
  const auto errors = testing::run_ranks(
      size,
      [](DeviceCommunicator& world) {
        call_all(world);
        if (world.rank() == 0) return;  // left without a word
        call_all(world);
      },
      options);
  EXPECT_EQ(errors[0], "");
  for (int rank = 1; rank < size; ++rank) {
    EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                AllOf(HasSubstr("world [0, 1"),
                      HasSubstr(is_double ? "waited 0.3 s for all_reduce" : "waited 20.")));
  }
}

TEST_P(CollectivesOfSeveral, EndOnceAMemberIsKnownToBeGone) {
  const int size = GetParam();
  std::atomic<bool> is_gone = false;
  CommunicatorOptions options;
  options.patience = kTestPatience;
  options.who_is_gone = [&] { return std::string(is_gone ? "rank 0 has vanished" : ""); };
  const auto errors = testing::run_ranks(
      size,
      [&](DeviceCommunicator& world) {
        call_all(world);
        if (world.rank() == 0) {
          is_gone = true;
          return;
        }
        call_all(world);
      },
      options);
  for (int rank = 1; rank < size; ++rank) {
    EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                AllOf(HasSubstr("world [0, 1"), HasSubstr("rank 0 has vanished")));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Collectives, ::testing::Values(1, 2, 4, 8), name_of_ranks);
INSTANTIATE_TEST_SUITE_P(Of, CollectivesOfTwo, ::testing::Values(2), name_of_ranks);
INSTANTIATE_TEST_SUITE_P(Of, CollectivesOfFour, ::testing::Values(4, 8), name_of_ranks);
INSTANTIATE_TEST_SUITE_P(Of, CollectivesOfSeveral, ::testing::Values(2, 8), name_of_ranks);

TEST(CollectiveRules, RefuseWhatContradictsItself) {
  if (count_devices().count == 0) GTEST_SKIP() << "No device: " << count_devices().why_none;
  const auto errors = testing::run_ranks(1, [](DeviceCommunicator& world) {
    const OwnedStream stream;
    EXPECT_THROW(world.broadcast(nullptr, 1, kFloat, 1, stream), std::invalid_argument);
    EXPECT_THROW(world.all_to_all(nullptr, {}, nullptr, {}, kFloat, stream), std::invalid_argument);
    EXPECT_THROW(world.split("tp", {1}, CommunicatorUse::collectives), std::invalid_argument);
  });
  EXPECT_THAT(errors, Each(""));
}

}  // namespace
}  // namespace llmb::runner::cuda
