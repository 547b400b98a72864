// Memory and copies by CUDA's runtime.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "runner/cuda/device.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/runtime_status.h"

namespace llmb::runner::cuda {
namespace {

cudaMemcpyKind kind_of(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::to_device:
      return cudaMemcpyHostToDevice;
    case CopyDirection::to_host:
      return cudaMemcpyDeviceToHost;
    case CopyDirection::within_device:
      return cudaMemcpyDeviceToDevice;
  }
  return cudaMemcpyDefault;
}

const char* words_of(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::to_device:
      return "to the device";
    case CopyDirection::to_host:
      return "to the host";
    case CopyDirection::within_device:
      return "within the device";
  }
  return "";
}

}  // namespace

std::byte* DevicePlace::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status != cudaSuccess) {
    cudaGetLastError();
    const MemoryInfo left = memory_info();
    check(status, fmt::format("allocate {} bytes on device {}, which has {} of {} left", bytes,
                              current_device().index, left.free_bytes, left.total_bytes));
  }
  return static_cast<std::byte*>(memory);
}

void DevicePlace::release(std::byte* data) {
  cudaFree(data);  // an error here was told before, or is told by the next wait
}

std::byte* PinnedPlace::allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), fmt::format("pin {} bytes of the host's memory", bytes));
  return static_cast<std::byte*>(memory);
}

void PinnedPlace::release(std::byte* data) {
  cudaFreeHost(data);
}

void copy_async(void* to, const void* from, std::size_t bytes, CopyDirection direction,
                Stream stream) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, kind_of(direction), stream),
        fmt::format("copy {} bytes {}", bytes, words_of(direction)));
}

void fill_async(void* memory, std::uint8_t value, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(memory, value, bytes, stream), fmt::format("fill {} bytes", bytes));
}

}  // namespace llmb::runner::cuda
