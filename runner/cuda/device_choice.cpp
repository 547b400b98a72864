#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {

int device_for(int local_rank, const DeviceCount& devices) {
  const std::string tried =
      fmt::format("choose a device for the rank with the local number {}", local_rank);
  if (devices.count == 0) {
    throw NoDevice(tried, "no device", devices.why_none,
                   "Start the run on a node with a GPU and its driver, or with --backend cpu.");
  }
  // A launcher that binds GPUs to ranks shows each rank its own only.
  if (devices.count == 1) return 0;
  if (local_rank >= devices.count) {
    throw NoDevice(
        tried, fmt::format("this node shows {} devices", devices.count), "",
        "Start at most one rank a GPU on each node (--ntasks-per-node, --gpus-per-node).");
  }
  return local_rank;
}

std::vector<int> kernel_architectures() {
  constexpr auto kCompiledFor = std::to_array<int>({LLMB_CUDA_ARCHITECTURES});  // one at least
  return {kCompiledFor.begin(), kCompiledFor.end()};
}

void require_kernels_for(const DeviceInfo& device) {
  constexpr int kGeneration = 10;
  std::vector<std::string> names;
  for (const int architecture : kernel_architectures()) {
    const bool is_of_its_generation =
        architecture / kGeneration == device.compute_capability / kGeneration;
    if (is_of_its_generation && architecture <= device.compute_capability) return;
    names.push_back(fmt::format("sm_{}", architecture));
  }
  constexpr int kBlackwell = 10;  // sm_100 and sm_103
  throw NoDevice(fmt::format("compute on device {} ({})", device.index, device.name),
                 fmt::format("it is sm_{}", device.compute_capability),
                 fmt::format("this program has code for {}", fmt::join(names, ", ")),
                 device.compute_capability / kGeneration == kBlackwell
                     ? "A build with CUDA 12.8 or later has code for it."
                     : "--backend cpu trains a proxy on this machine's CPUs.");
}

}  // namespace llmb::runner::cuda
