// The shim itself: that correct kernels give what they should in any order of lanes, and that
// broken ones are caught. Compiled as a kernel is: CUDA's names, without nvcc.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 64;

// A sum over the block. Broken: without the barrier before the sums are read.
struct SumKernel {
  static constexpr int kThreadsMax = kThreads;
  const int* x;
  int* total;
  bool is_broken;

  __device__ void operator()() const {
    __shared__ Shared<int, kThreads> values;
    values[thread_index()] = x[thread_index()];
    if (!is_broken) __syncthreads();
    if (thread_index() == 0) {
      int sum = 0;
      for (int i = 0; i < kThreads; ++i) sum += values[i];
      *total = sum;
    }
  }
};

std::vector<int> counting() {
  std::vector<int> x(kThreads);
  std::iota(x.begin(), x.end(), 0);
  return x;
}

template <typename Kernel>
std::string fault_of(const Kernel& kernel, int threads = kThreads, std::size_t shared_bytes = 0) {
  try {
    launch(kernel, {1}, threads, shared_bytes, nullptr);
  } catch (const simt::KernelFault& fault) {
    return fault.what();
  }
  return "";
}

TEST(Shim, RunsABlockInAnyOrderOfLanes) {
  const std::vector<int> x = counting();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    simt::set_order_seed(seed);
    int total = 0;
    launch(SumKernel{x.data(), &total, false}, {1}, kThreads, 0, nullptr);
    EXPECT_EQ(total, 2016);
  }
}

TEST(Shim, CatchesARemovedBarrierInEveryOrder) {
  const std::vector<int> x = counting();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    simt::set_order_seed(seed);
    int total = 0;
    const std::string fault = fault_of(SumKernel{x.data(), &total, true});
    EXPECT_TRUE(fault.find("SumKernel, block (0, 0, 0)") == 0) << fault;
    const bool is_told = fault.find("with no barrier between") != std::string::npos ||
                         fault.find("which nobody wrote") != std::string::npos;
    EXPECT_TRUE(is_told) << fault;
  }
  // And the stacks of the lanes that were stopped are good for the next kernel.
  int total = 0;
  EXPECT_EQ(fault_of(SumKernel{x.data(), &total, false}), "");
  EXPECT_EQ(total, 2016);
}

struct DivergentKernel {
  static constexpr int kThreadsMax = kThreads;
  bool is_at_two_lines;

  __device__ void operator()() const {
    if (thread_index() < 3) {
      __syncthreads();
    } else if (is_at_two_lines) {
      __syncthreads();
    }
  }
};

TEST(Shim, ReportsBarriersThatNotAllLanesReach) {
  const std::string ended = fault_of(DivergentKernel{false});
  EXPECT_NE(ended.find("3 lanes (0, 1, 2) at __syncthreads in "), std::string::npos) << ended;
  EXPECT_NE(ended.find("61 lanes (3, 4, 5, 6, …) ended"), std::string::npos) << ended;
  const std::string elsewhere = fault_of(DivergentKernel{true});
  EXPECT_NE(elsewhere.find("divergent barrier"), std::string::npos) << elsewhere;
  EXPECT_NE(elsewhere.find("shim_test.cu:"), std::string::npos) << elsewhere;
}

// Lanes of one warp pass values through shared memory.
struct WarpKernel {
  static constexpr int kThreadsMax = kThreads;
  int* out;
  bool is_broken;

  __device__ void operator()() const {
    __shared__ Shared<int, kThreads> values;
    values[thread_index()] = thread_index();
    if (!is_broken) __syncwarp();
    out[thread_index()] = values[warp_index() * kWarp + (lane_index() + 1) % kWarp];
  }
};

TEST(Shim, TakesAWarpsBarrierForItsWarp) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    simt::set_order_seed(seed);
    std::vector<int> out(kThreads);
    launch(WarpKernel{out.data(), false}, {1}, kThreads, 0, nullptr);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[31], 0);
    EXPECT_EQ(out[63], 32);
    EXPECT_NE(fault_of(WarpKernel{out.data(), true}), "");
  }
}

struct CollectiveKernel {
  static constexpr int kThreadsMax = kThreads;
  int* out;  // (5, 64)

  __device__ void operator()() const {
    const int lane = lane_index();
    const int at = thread_index();
    out[at] = __shfl_xor_sync(0xffffffffU, lane, 5);
    out[kThreads + at] = __shfl_sync(0xffffffffU, lane * 2, 7);
    out[2 * kThreads + at] = __shfl_up_sync(0xffffffffU, lane, 4);
    out[3 * kThreads + at] = static_cast<int>(__ballot_sync(0xffffffffU, lane % 3 == 0));
    out[4 * kThreads + at] =
        (__any_sync(0xffffffffU, at == 40) ? 1 : 0) + (__all_sync(0xffffffffU, at < 32) ? 2 : 0);
  }
};

TEST(Shim, HasTheWarpsExchangesAndVotes) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    simt::set_order_seed(seed);
    std::vector<int> out(5 * kThreads);
    launch(CollectiveKernel{out.data()}, {1}, kThreads, 0, nullptr);
    for (int at = 0; at < kThreads; ++at) {
      const int lane = at % kWarp;
      const auto row = [&](int index) {
        return out[static_cast<std::size_t>(index * kThreads + at)];
      };
      EXPECT_EQ(row(0), lane ^ 5);
      EXPECT_EQ(row(1), 14);
      EXPECT_EQ(row(2), lane < 4 ? lane : lane - 4);
      EXPECT_EQ(row(3), 0x49249249);
      EXPECT_EQ(row(4), at < kWarp ? 2 : 1);
    }
  }
}

struct DynamicKernel {
  static constexpr int kThreadsMax = kThreads;
  int index;
  bool reads_first;

  __device__ void operator()() const {
    const SharedSpan<float> values(0, kThreads);
    if (thread_index() != 0) return;
    if (reads_first) {
      values[0] += 1.0F;
    } else {
      values[index] = 1.0F;
    }
  }
};

TEST(Shim, GuardsDynamicSharedMemory) {
  constexpr std::size_t kBytes = kThreads * sizeof(float);
  EXPECT_EQ(fault_of(DynamicKernel{kThreads - 1, false}, kThreads, kBytes), "");
  EXPECT_NE(fault_of(DynamicKernel{kThreads, false}, kThreads, kBytes).find("index 64 of 64"),
            std::string::npos);
  EXPECT_NE(fault_of(DynamicKernel{0, true}, kThreads, kBytes).find("which nobody wrote"),
            std::string::npos);
  EXPECT_NE(fault_of(DynamicKernel{0, false}, kThreads, kBytes - 4).find("up to byte 256 of 252"),
            std::string::npos);
}

// Every lane counts into one word: atomically, or as if that were the same.
struct CountKernel {
  static constexpr int kThreadsMax = kThreads;
  int* total;
  bool is_atomic;

  __device__ void operator()() const {
    __shared__ Shared<int, 1> count;
    if (thread_index() == 0) count[0] = 0;
    __syncthreads();
    if (is_atomic) {
      shared_add(count[0], 1);
    } else {
      count[0] += 1;
    }
    __syncthreads();
    if (thread_index() == 0) *total = count[0];
  }
};

TEST(Shim, TellsAtomicUpdatesFromRaces) {
  int total = 0;
  EXPECT_EQ(fault_of(CountKernel{&total, true}), "");
  EXPECT_EQ(total, kThreads);
  EXPECT_NE(fault_of(CountKernel{&total, false}).find("race: "), std::string::npos);
}

TEST(Shim, RefusesLaunchesThatCudaRefuses) {
  int total = 0;
  EXPECT_NE(fault_of(CountKernel{&total, true}, 2 * kThreads).find("launch bound is 64"),
            std::string::npos);
  EXPECT_NE(fault_of(CountKernel{&total, true}, 40).find("whole warps"), std::string::npos);
  EXPECT_NE(fault_of(CountKernel{&total, true}, kThreads, 300 * 1024).find("shared memory"),
            std::string::npos);
}

TEST(Shim, RunsOnSeveralThreadsOfTheProcess) {
  const std::vector<int> x = counting();
  std::vector<int> totals(4);
  std::vector<std::thread> threads;
  for (int& total : totals) {
    threads.emplace_back([&x, &total] {
      for (int i = 0; i < 10; ++i)
        launch(SumKernel{x.data(), &total, false}, {1}, kThreads, 0, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(totals, std::vector<int>(4, 2016));
}

TEST(Shim, LeavesItToAStreamWhenAKernelRuns) {
  const std::vector<int> x = counting();
  int total = 0;
  static std::vector<std::function<void()>> queue;
  queue.clear();
  simt::set_stream_executor([](CUstream_st*, std::type_index, std::function<void()> work) {
    queue.push_back(std::move(work));
  });
  launch(SumKernel{x.data(), &total, false}, {1}, kThreads, 0, nullptr);
  simt::set_stream_executor(nullptr);
  EXPECT_EQ(total, 0);
  ASSERT_EQ(queue.size(), 1U);
  queue[0]();
  EXPECT_EQ(total, 2016);
}

}  // namespace
}  // namespace llmb::runner::kernels
