// What the code of a kernel is written with, under nvcc and over the shim: CUDA's names, places of
// a thread, shared memory, vectors of 128 bits, and sums over warps and blocks. Included by .cu
// files only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runner/kernels/launch.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"

#if !defined(__CUDACC__)
#include "runner/simt/builtins.h"
#include "runner/simt/shared.h"
#endif

namespace llmb::runner::kernels {

inline constexpr int kWarp = 32;

__device__ inline int thread_index() {
  return static_cast<int>(threadIdx.x);
}
__device__ inline int thread_count() {
  return static_cast<int>(blockDim.x);
}
__device__ inline int lane_index() {
  return thread_index() % kWarp;
}
__device__ inline int warp_index() {
  return thread_index() / kWarp;
}
__device__ inline int warp_count() {
  return thread_count() / kWarp;
}
__device__ inline std::int64_t block_x() {
  return static_cast<std::int64_t>(blockIdx.x);
}
__device__ inline std::int64_t block_y() {
  return static_cast<std::int64_t>(blockIdx.y);
}
__device__ inline std::int64_t block_z() {
  return static_cast<std::int64_t>(blockIdx.z);
}
__device__ inline std::int64_t grid_x() {
  return static_cast<std::int64_t>(gridDim.x);
}

// Shared<T, n>: `__shared__ Shared<float, 32> sums;` inside a kernel. SharedSpan<T>(offset, count):
// values in the dynamic shared memory, `offset` in bytes.
#if defined(__CUDACC__)
template <typename T, int kCount>
struct Shared {
  T values[kCount];
  template <typename Index>
  __device__ T& operator[](Index index) {
    return values[index];
  }
};

template <typename T>
struct SharedSpan {
  T* values;
  __device__ SharedSpan(std::size_t offset_bytes, std::int64_t) {
    extern __shared__ __align__(16) unsigned char llmb_dynamic_shared[];
    values = reinterpret_cast<T*>(llmb_dynamic_shared + offset_bytes);
  }
  template <typename Index>
  __device__ T& operator[](Index index) const {
    return values[index];
  }
};
// Adds to a word of shared memory that other threads add to as well.
template <typename T>
__device__ inline T shared_add(T& word, T value) {
  return atomicAdd(&word, value);
}
#else
using simt::Shared;
using simt::SharedSpan;
template <typename T>
T shared_add(simt::SharedWord<T> word, std::type_identity_t<T> value) {
  return word.atomic_add(value);
}
#endif

// Elements of T in 128 bits.
template <typename T>
inline constexpr int kPack = static_cast<int>(16 / sizeof(T));

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Packed {
  T values[kCount];
};

// kCount numbers, as the arithmetic has them.
template <int kCount>
struct Floats {
  float values[kCount];
  __device__ float& operator[](int index) { return values[index]; }
  __device__ const float& operator[](int index) const { return values[index]; }
};

// Accesses of at most 128 bits. kCount > 1 needs `from` aligned as 16 bytes, or as the kCount
// elements where those are smaller.
template <int kCount, typename T>
__device__ inline Floats<kCount> load(const T* from) {
  constexpr int kStep = kCount < kPack<T> ? kCount : kPack<T>;
  Floats<kCount> result;
  for (int first = 0; first < kCount; first += kStep) {
    const auto packed = *reinterpret_cast<const Packed<T, kStep>*>(from + first);
    for (int i = 0; i < kStep; ++i) result[first + i] = to_float(packed.values[i]);
  }
  return result;
}
template <int kCount, typename T>
__device__ inline void store(const Floats<kCount>& values, T* to) {
  constexpr int kStep = kCount < kPack<T> ? kCount : kPack<T>;
  for (int first = 0; first < kCount; first += kStep) {
    Packed<T, kStep> packed;
    for (int i = 0; i < kStep; ++i) packed.values[i] = from_float<T>(values[first + i]);
    *reinterpret_cast<Packed<T, kStep>*>(to + first) = packed;
  }
}

// A number of columns that the compiler knows.
template <int kColumns>
struct Width {
  // NOLINTNEXTLINE(google-explicit-constructor): stands for the number
  LLMB_BOTH constexpr operator int() const { return kColumns; }
};

// Shares `count` columns out to the block's threads: body(width, first) for pieces of kPack<T>
// columns where `aligned`, and of one column where not and at the tail. `width` is a Width.
template <typename T, typename Body>
__device__ inline void sweep(std::int64_t count, bool aligned, Body body) {
  constexpr int kWidth = kPack<T>;
  const std::int64_t packs = aligned ? count / kWidth : 0;
  for (std::int64_t pack = thread_index(); pack < packs; pack += thread_count()) {
    body(Width<kWidth>(), pack * kWidth);
  }
  for (std::int64_t at = packs * kWidth + thread_index(); at < count; at += thread_count()) {
    body(Width<1>(), at);
  }
}

// Where shared memory keeps column first + i of a piece of kColumns, of `count` columns in all, so
// that threads beside each other use banks beside each other.
template <int kColumns>
__device__ inline std::int64_t spread(Width<kColumns>, std::int64_t count, std::int64_t first,
                                      int i) {
  if constexpr (kColumns == 1) {
    return first + i;
  } else {
    return i * (count / kColumns) + first / kColumns;
  }
}

struct Plus {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Over the warp's lanes; every lane gets the result, the same bits.
template <typename T, typename Operation = Plus>
__device__ inline T warp_reduce(T value, Operation operation = {}) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = operation(value, __shfl_xor_sync(0xffffffffU, value, step));
  }
  return value;
}

// Over the block's threads, all of which call it; every thread gets the result. Warps are added in
// their order, so the bits do not depend on which came first.
template <typename T, typename Operation = Plus>
__device__ inline T block_reduce(T value, Operation operation = {}) {
  __shared__ Shared<T, kWarp> of_warps;
  value = warp_reduce(value, operation);
  if (lane_index() == 0) of_warps[warp_index()] = value;
  __syncthreads();
  T total = of_warps[0];
  for (int warp = 1; warp < warp_count(); ++warp) total = operation(total, T(of_warps[warp]));
  __syncthreads();  // the next call writes again
  return total;
}

}  // namespace llmb::runner::kernels
