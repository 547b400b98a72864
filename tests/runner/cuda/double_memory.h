// DoubleMemory: numbers in memory of the double's device, at which a test looks without a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "runner/cuda/memory.h"

namespace llmb::runner::testing {

template <typename T>
class DoubleMemory {
 public:
  DoubleMemory(std::size_t count, T value) : memory_(count * sizeof(T)) {
    std::fill_n(data(), count, value);
  }
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  std::size_t size() const { return memory_.bytes() / sizeof(T); }
  std::span<const T> values() const { return {data(), size()}; }
  T front() const { return data()[0]; }

 private:
  cuda::DeviceMemory memory_;
};

}  // namespace llmb::runner::testing
