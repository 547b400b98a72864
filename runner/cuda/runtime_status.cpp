#include "runner/cuda/runtime_status.h"

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

const char* advice_for(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver:
      return "The driver is older than the CUDA that this program was built with: install a newer "
             "driver, or build with an older CUDA.";
    case cudaErrorNoDevice:
      return "Start the run on a node with a GPU, or with --backend cpu.";
    case cudaErrorMemoryAllocation:
      return "Fewer layers, a smaller micro-batch or --recompute-layers need less.";
    case cudaErrorECCUncorrectable:
      return "The device's memory is at fault: take the node out of service, and reset the GPU.";
    case cudaErrorDevicesUnavailable:
      return "Another process has the device to itself.";
    default:
      return "The driver's log (dmesg, Xid lines) may say more.";
  }
}

}  // namespace

void check(cudaError_t status, const std::string& tried) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // what is told here is not told again by the next call
  const std::string code = cudaGetErrorName(status);
  const std::string words = cudaGetErrorString(status);
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw OutOfDeviceMemory(tried, code, words, advice_for(status));
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
      throw NoDevice(tried, code, words, advice_for(status));
    default:
      throw DeviceError(tried, code, words, advice_for(status));
  }
}

}  // namespace llmb::runner::cuda
