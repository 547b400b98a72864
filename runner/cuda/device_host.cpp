// The double's devices: memory of the host with a name.
#include <fmt/format.h>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/host_capture.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"

namespace llmb::runner::cuda {
namespace {

DeviceInfo info_of(int index) {
  DeviceInfo info;
  info.index = index;
  info.name = "double";
  info.pci_address = fmt::format("0000:{:02x}:00.0", index + 1);
  info.compute_capability = host_devices().compute_capability;
  info.memory_bytes = host_devices().memory_bytes;
  info.driver_version = host_devices().driver_version;
  return info;
}

}  // namespace

HostCalls& host_calls() {
  static thread_local HostCalls calls;
  return calls;
}

DeviceCount count_devices() {
  const int count = host_devices().device_count;
  return {count, count == 0 ? "the double was told to have none" : ""};
}

DeviceInfo choose_device(int local_rank) {
  const int index = device_for(local_rank, count_devices());
  set_host_device(index);
  DeviceInfo device = info_of(index);
  require_kernels_for(device);
  return device;
}

DeviceInfo current_device() {
  return info_of(host_device());
}

MemoryInfo memory_info() {
  const std::int64_t total = host_devices().memory_bytes;
  return {total - taken_host_memory(host_device()), total};
}

std::string runtime_name() {
  return "the CPU's double";
}

}  // namespace llmb::runner::cuda
