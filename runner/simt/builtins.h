// What g++ sees in the place of CUDA's own names, so that a kernel's source compiles without nvcc
// and runs on BlockRunner. Only what the kernels use: a kernel that wants more finds it missing
// here. Warp operations take full masks only.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runner/simt/block_runner.h"
#include "runner/simt/thread_index.h"

// The names are CUDA's, and reserved for such.
// NOLINTBEGIN(clang-diagnostic-reserved-identifier, readability-identifier-naming)
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static thread_local

#define __syncthreads() \
  ::llmb::runner::simt::BlockRunner::of_this_thread().block_barrier({__FILE__, __LINE__})
#define __syncwarp() \
  ::llmb::runner::simt::BlockRunner::of_this_thread().warp_barrier({__FILE__, __LINE__})

#define __shfl_xor_sync(mask, value, lane_mask)                    \
  ::llmb::runner::simt::shuffle({__FILE__, __LINE__}, mask, value, \
                                (threadIdx.x & 31U) ^ (lane_mask))
#define __shfl_sync(mask, value, source) \
  ::llmb::runner::simt::shuffle({__FILE__, __LINE__}, mask, value, source)
#define __shfl_up_sync(mask, value, delta) \
  ::llmb::runner::simt::shuffle_up({__FILE__, __LINE__}, mask, value, delta)
#define __ballot_sync(mask, predicate) \
  ::llmb::runner::simt::ballot({__FILE__, __LINE__}, mask, predicate)
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0)
#define __all_sync(mask, predicate) (__ballot_sync(mask, predicate) == 0xffffffffU)

namespace llmb::runner::simt {

template <typename T>
std::uint64_t exchange_bits(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warps exchange words of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

template <typename T>
T exchanged_value(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
}

inline BlockRunner& checked_runner(unsigned mask) {
  BlockRunner& runner = BlockRunner::of_this_thread();
  if (mask != 0xffffffffU) runner.fault("a warp operation with a mask that is not full");
  return runner;
}

template <typename T, typename Index>
T shuffle(Site site, unsigned mask, T value, Index source) {
  BlockRunner& runner = checked_runner(mask);
  runner.exchange(site, exchange_bits(value));
  return exchanged_value<T>(runner.exchanged(static_cast<int>(source) & (kWarpSize - 1)));
}

template <typename T>
T shuffle_up(Site site, unsigned mask, T value, int delta) {
  BlockRunner& runner = checked_runner(mask);
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  runner.exchange(site, exchange_bits(value));
  return lane < delta ? value : exchanged_value<T>(runner.exchanged(lane - delta));
}

inline unsigned ballot(Site site, unsigned mask, bool predicate) {
  BlockRunner& runner = checked_runner(mask);
  runner.exchange(site, predicate ? 1 : 0);
  unsigned bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    bits |= static_cast<unsigned>(runner.exchanged(i)) << static_cast<unsigned>(i);
  }
  return bits;
}

}  // namespace llmb::runner::simt

// Lanes of a thread of this process never run at once, so a plain update is atomic among them.
template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T before = *address;
  *address = static_cast<T>(before + value);
  return before;
}
template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T before = *address;
  if (value > before) *address = value;
  return before;
}

inline int __popc(unsigned bits) {
  return std::popcount(bits);
}
inline float rsqrtf(float x) {
  return 1 / std::sqrt(x);
}
inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
// NOLINTEND(clang-diagnostic-reserved-identifier, readability-identifier-naming)
