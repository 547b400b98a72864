// What CUDA's runtime answers, as exceptions. Real sources only.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace llmb::runner::cuda {

// Throws DeviceError (NoDevice, OutOfDeviceMemory) unless `status` is success. `tried` is for the
// message: "copy 8192 bytes to the host".
void check(cudaError_t status, const std::string& tried);

}  // namespace llmb::runner::cuda
