#include <fmt/format.h>

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

}  // namespace llmb::runner::cuda
