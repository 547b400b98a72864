// Memory of the calling thread's device, pinned memory of the host, and the copies between them,
// which go on a stream and come back at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// Places to have memory in, each with how it is got and given back.
struct DevicePlace {
  static std::byte* allocate(std::size_t bytes);  // throws OutOfDeviceMemory
  static void release(std::byte* data);
};
struct PinnedPlace {
  static std::byte* allocate(std::size_t bytes);
  static void release(std::byte* data);
};

// Owns memory of a place; its contents are not set.
template <typename Place>
class OwnedMemory {
 public:
  OwnedMemory() = default;
  explicit OwnedMemory(std::size_t bytes)
      : data_(bytes > 0 ? Place::allocate(bytes) : nullptr), bytes_(bytes) {}

  std::size_t bytes() const { return bytes_; }
  std::byte* data() const { return data_.get(); }

 private:
  struct Release {
    void operator()(std::byte* data) const { Place::release(data); }
  };
  std::unique_ptr<std::byte, Release> data_;
  std::size_t bytes_ = 0;
};

// Aligned to 256 bytes. Making and destroying it waits for the device, so neither happens within a
// step.
using DeviceMemory = OwnedMemory<DevicePlace>;
// Which copies need to run beside the program.
using PinnedMemory = OwnedMemory<PinnedPlace>;

enum class CopyDirection { to_device, to_host, within_device };

// Both places stay as they are, and allocated, until the copy has run: on the host that is after an
// event or a synchronisation.
void copy_async(void* to, const void* from, std::size_t bytes, CopyDirection direction,
                Stream stream);
// Every byte becomes `value`.
void fill_async(void* memory, std::uint8_t value, std::size_t bytes, Stream stream);

}  // namespace llmb::runner::cuda
