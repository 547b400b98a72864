// Devices by CUDA's runtime.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "runner/cuda/device.h"
#include "runner/cuda/failure_board.h"
#include "runner/cuda/runtime_status.h"

namespace llmb::runner::cuda {
namespace {

DeviceInfo info_of(int index) {
  DeviceInfo info;
  info.index = index;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), fmt::format("ask what device {} is", index));
  info.name = properties.name;
  info.pci_address = fmt::format("{:08x}:{:02x}:{:02x}.0", properties.pciDomainID,
                                 properties.pciBusID, properties.pciDeviceID);
  info.compute_capability = 10 * properties.major + properties.minor;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  check(cudaDriverGetVersion(&info.driver_version), "ask for the driver's version");
  check(cudaRuntimeGetVersion(&info.runtime_version), "ask for the runtime's version");
  return info;
}

}  // namespace

DeviceCount count_devices() {
  DeviceCount devices;
  const cudaError_t status = cudaGetDeviceCount(&devices.count);
  if (status == cudaSuccess && devices.count > 0) return devices;
  cudaGetLastError();
  devices.count = 0;
  if (status == cudaErrorInsufficientDriver) {
    devices.why_none =
        fmt::format("no driver of NVIDIA's is loaded, or one older than {} needs", runtime_name());
    return devices;
  }
  devices.why_none = status == cudaSuccess ? "the driver shows none"
                                           : fmt::format("{}, {}", cudaGetErrorName(status),
                                                         cudaGetErrorString(status));
  return devices;
}

DeviceInfo choose_device(int local_rank) {
  const int index = device_for(local_rank, count_devices());
  check(cudaSetDevice(index), fmt::format("work on device {}", index));
  check(cudaFree(nullptr), fmt::format("open device {}", index));  // makes its context now
  DeviceInfo device = info_of(index);
  require_kernels_for(device);
  return device;
}

DeviceInfo current_device() {
  int index = 0;
  check(cudaGetDevice(&index), "ask for this thread's device");
  return info_of(index);
}

MemoryInfo memory_info() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for the device's memory");
  return {static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

std::string runtime_name() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "ask for the runtime's version");
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace llmb::runner::cuda
