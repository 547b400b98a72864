// The double's memory: the host's, with a budget a device, and bytes that make NaNs of floats until
// somebody writes them.
#include "runner/cuda/memory.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include <fmt/format.h>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/host_capture.h"
#include "runner/cuda/host_registry.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr int kPoison = 0xff;

// In front of what a caller gets.
struct alignas(kAlignment) Header {
  int device;
  std::size_t bytes;
};

std::byte* poisoned(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(
      ::operator new (sizeof(Header) + bytes, std::align_val_t{kAlignment}));
  std::memset(memory + sizeof(Header), kPoison, bytes);
  return memory;
}

void free_poisoned(std::byte* data) {
  ::operator delete (data - sizeof(Header), std::align_val_t{kAlignment});
}

// A copy of memory that may be paged out is no node of a graph.
void require_pinned_in_capture(const void* on_host, std::size_t bytes, Stream stream) {
  if (HostCapture::of(stream) && !is_pinned(on_host, bytes)) {
    refuse_in_capture("copy between the device and memory of the host that is not pinned");
  }
}

}  // namespace

std::byte* DevicePlace::allocate(std::size_t bytes) {
  const int device = host_device();
  refuse_memory_in_capture("allocate memory of a device");
  ++host_calls().allocations;
  if (!take_host_memory(device, bytes)) {
    const MemoryInfo memory = memory_info();
    throw OutOfDeviceMemory(fmt::format("allocate {} bytes on device {}, which has {} of {} left",
                                        bytes, device, memory.free_bytes, memory.total_bytes),
                            "out of memory", "",
                            "Fewer layers, a smaller micro-batch or --recompute-layers need less.");
  }
  std::byte* memory = poisoned(bytes);
  new (memory) Header{device, bytes};
  note_allocation(memory + sizeof(Header), bytes, device);
  return memory + sizeof(Header);
}

void DevicePlace::release(std::byte* data) {
  const Header header = *reinterpret_cast<const Header*>(data - sizeof(Header));
  ++host_calls().releases;
  const auto capture = HostCapture::of_thread();
  if (capture && !capture->takes_memory) capture->invalidate();
  try {
    finish_streams_of(header.device);
  } catch (...) {  // told by whoever waits for the stream
  }
  forget_allocation(data);
  give_back_host_memory(header.device, header.bytes);
  free_poisoned(data);
}

std::byte* PinnedPlace::allocate(std::size_t bytes) {
  refuse_memory_in_capture("pin memory of the host");
  ++host_calls().pinned;
  std::byte* memory = poisoned(bytes) + sizeof(Header);
  note_pinned(memory, bytes);
  return memory;
}

void PinnedPlace::release(std::byte* data) {
  forget_pinned(data);
  free_poisoned(data);
}

void copy_async(void* to, const void* from, std::size_t bytes, CopyDirection direction,
                Stream stream) {
  if (bytes == 0) return;
  if (direction != CopyDirection::to_host) require_on_device(to, bytes, "copy to the device");
  if (direction != CopyDirection::to_device) require_on_device(from, bytes, "copy from the device");
  if (direction == CopyDirection::to_host) require_pinned_in_capture(to, bytes, stream);
  if (direction == CopyDirection::to_device) require_pinned_in_capture(from, bytes, stream);
  compute_on_stream(stream, [=] { std::memmove(to, from, bytes); });
}

void fill_async(void* memory, std::uint8_t value, std::size_t bytes, Stream stream) {
  require_on_device(memory, bytes, "fill");
  if (bytes == 0) return;
  compute_on_stream(stream, [=] { std::memset(memory, value, bytes); });
}

}  // namespace llmb::runner::cuda
