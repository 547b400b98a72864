// The devices of this node, and the one that a thread works on. Every thread that allocates, makes
// streams or launches kernels chooses its device first. Where no GPU is, runner/cuda's double has
// devices of its own, in the memory of the host (host_device.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmb::runner::cuda {

struct DeviceInfo {
  int index = 0;  // among the devices that this process sees
  std::string name;
  std::string pci_address;     // "00000000:1b:00.0", by which NVML knows it
  int compute_capability = 0;  // 90 for sm_90
  std::int64_t memory_bytes = 0;
  int driver_version = 0;   // the newest CUDA that the driver serves: 12040 for 12.4
  int runtime_version = 0;  // the CUDA that this program was built with
};

struct DeviceCount {
  int count = 0;
  std::string why_none;  // where it is 0: no driver, a driver that is too old, no device
};
// Throws nothing: to ask is allowed anywhere.
DeviceCount count_devices();

// Makes the calling thread work on the device of a rank, which is the `local_rank`-th of its node
// (SLURM_LOCALID). Where the launcher shows each rank one device only, that is the one. Throws
// NoDevice where there is none for this rank, where the driver is older than this program needs,
// and where this program has no code for the device.
DeviceInfo choose_device(int local_rank);

// The choice itself: which of `devices` a rank works on. Throws NoDevice.
int device_for(int local_rank, const DeviceCount& devices);

// Which devices this program's own kernels were compiled for: 90 for sm_90. Such code runs on later
// devices of the same generation, too: sm_100's on sm_103.
std::vector<int> kernel_architectures();
// Throws NoDevice where none of them runs on it.
void require_kernels_for(const DeviceInfo& device);

// The calling thread's; choose_device came before.
DeviceInfo current_device();

struct MemoryInfo {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
};
MemoryInfo memory_info();

// Which of these functions answer: "CUDA 13.0" or "the CPU's double".
std::string runtime_name();

}  // namespace llmb::runner::cuda
