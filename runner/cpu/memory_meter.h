// MemoryMeter: how many bytes of tensors this thread, that is this rank, holds, and the most it
// held. Every Tensor counts itself; nothing else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace llmb::runner::cpu {

struct MemoryMeter {
  std::int64_t bytes = 0;
  std::int64_t bytes_max = 0;

  void add(std::int64_t count) {
    bytes += count;
    if (bytes > bytes_max) bytes_max = bytes;
  }
};

// Of the calling thread.
MemoryMeter& memory_meter();

// Counts what a tensor allocates. A tensor ends on the thread that made it.
template <typename T>
struct MeteredAllocator {
  using value_type = T;

  MeteredAllocator() = default;
  template <typename U>
  MeteredAllocator(const MeteredAllocator<U>&) {}  // NOLINT(google-explicit-constructor): rebinding

  T* allocate(std::size_t count) {
    memory_meter().add(static_cast<std::int64_t>(count * sizeof(T)));
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* pointer, std::size_t count) {
    memory_meter().add(-static_cast<std::int64_t>(count * sizeof(T)));
    ::operator delete(pointer);
  }
  bool operator==(const MeteredAllocator&) const = default;
};

}  // namespace llmb::runner::cpu
