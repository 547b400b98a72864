#include "runner/cuda/vendor_functions.h"

#include <fmt/format.h>

#include <array>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

// clang-format off
#define LLMB_FIND(name) functions.name = library.function<decltype(&::name)>(#name);
// clang-format on

}  // namespace

const CublasLtFunctions& cublaslt() {
  static const CublasLtFunctions loaded = [] {
    const VendorLibrary library(
        {"cuBLASLt",
         {fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR)},
         fmt::format("Install CUDA {}'s libraries, or PyTorch for it.", CUBLAS_VER_MAJOR)});
    CublasLtFunctions functions;
    LLMB_CUBLASLT_FUNCTIONS(LLMB_FIND)
    return functions;
  }();
  return loaded;
}

const CudnnFunctions& cudnn() {
  static const CudnnFunctions loaded = [] {
    const VendorLibrary library(
        {"cuDNN",
         {fmt::format("libcudnn.so.{}", CUDNN_MAJOR)},
         fmt::format("Install cuDNN {}, or PyTorch, which brings it.", CUDNN_MAJOR)});
    CudnnFunctions functions;
    LLMB_CUDNN_FUNCTIONS(LLMB_FIND)
    return functions;
  }();
  return loaded;
}

const NcclFunctions& nccl() {
  static const NcclFunctions loaded = [] {
    const VendorLibrary library(
        {"NCCL", {"libnccl.so.2"}, "Install NCCL, or PyTorch, which brings it."});
    NcclFunctions functions;
    LLMB_NCCL_FUNCTIONS(LLMB_FIND)
    return functions;
  }();
  return loaded;
}

std::string status_code(cublasStatus_t status) {
  return fmt::format("cuBLASLt status {}", static_cast<int>(status));
}

void check(cublasStatus_t status, const std::string& tried) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(tried, status_code(status), cublaslt().cublasLtGetStatusString(status),
                    "CUBLASLT_LOG_LEVEL=5 in the environment makes it say more.");
}

void check(cudnnStatus_t status, const std::string& tried) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 2048> more{};
  cudnn().cudnnGetLastErrorString(more.data(), more.size());
  throw DeviceError(tried, cudnn().cudnnGetErrorString(status), more.data(),
                    "CUDNN_LOGLEVEL_DBG=2 in the environment makes it say more.");
}

void check(ncclResult_t status, const std::string& tried) {
  if (status == ncclSuccess) return;
  const char* last = nccl().ncclGetLastError(nullptr);
  const std::string words = nccl().ncclGetErrorString(status);
  const std::string more = last ? last : "";
  const std::string advice = "NCCL_DEBUG=WARN in the environment makes it say more.";
  // Another rank's process ended, or the network did.
  if (status == ncclRemoteError) throw CommunicatorFailed(tried, words, more, advice);
  // Its words tell that the device is full from all else that CUDA may answer it.
  if (status == ncclUnhandledCudaError && more.find("out of memory") != std::string::npos) {
    throw OutOfDeviceMemory(tried, words, more, advice);
  }
  throw DeviceError(tried, words, more, advice);
}

}  // namespace llmb::runner::cuda
