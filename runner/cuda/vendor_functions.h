// The functions of cuBLASLt, cuDNN and NCCL that the backend calls, each by the type that its own
// header gives it: the lists are all there is, so that a test can hold them against the real
// libraries (tests/runner/cuda/vendor_symbols_test.cpp). Real sources only.
#pragma once

#include <cublasLt.h>
#include <cudnn.h>
#include <nccl.h>

#include "runner/cuda/vendor_library.h"

#define LLMB_CUBLASLT_FUNCTIONS(APPLY)        \
  APPLY(cublasLtCreate)                       \
  APPLY(cublasLtDestroy)                      \
  APPLY(cublasLtGetVersion)                   \
  APPLY(cublasLtGetStatusString)              \
  APPLY(cublasLtMatmul)                       \
  APPLY(cublasLtMatmulAlgoCheck)              \
  APPLY(cublasLtMatmulAlgoGetHeuristic)       \
  APPLY(cublasLtMatmulDescCreate)             \
  APPLY(cublasLtMatmulDescDestroy)            \
  APPLY(cublasLtMatmulDescSetAttribute)       \
  APPLY(cublasLtMatmulPreferenceCreate)       \
  APPLY(cublasLtMatmulPreferenceDestroy)      \
  APPLY(cublasLtMatmulPreferenceSetAttribute) \
  APPLY(cublasLtMatrixLayoutCreate)           \
  APPLY(cublasLtMatrixLayoutDestroy)          \
  APPLY(cublasLtMatrixLayoutSetAttribute)

#define LLMB_CUDNN_FUNCTIONS(APPLY)    \
  APPLY(cudnnCreate)                   \
  APPLY(cudnnDestroy)                  \
  APPLY(cudnnSetStream)                \
  APPLY(cudnnGetVersion)               \
  APPLY(cudnnGetErrorString)           \
  APPLY(cudnnGetLastErrorString)       \
  APPLY(cudnnBackendCreateDescriptor)  \
  APPLY(cudnnBackendDestroyDescriptor) \
  APPLY(cudnnBackendExecute)           \
  APPLY(cudnnBackendFinalize)          \
  APPLY(cudnnBackendGetAttribute)      \
  APPLY(cudnnBackendSetAttribute)

#define LLMB_NCCL_FUNCTIONS(APPLY) \
  APPLY(ncclAllGather)             \
  APPLY(ncclAllReduce)             \
  APPLY(ncclBroadcast)             \
  APPLY(ncclCommAbort)             \
  APPLY(ncclCommDestroy)           \
  APPLY(ncclCommGetAsyncError)     \
  APPLY(ncclCommInitRankConfig)    \
  APPLY(ncclCommSplit)             \
  APPLY(ncclGetErrorString)        \
  APPLY(ncclGetLastError)          \
  APPLY(ncclGetUniqueId)           \
  APPLY(ncclGetVersion)            \
  APPLY(ncclGroupEnd)              \
  APPLY(ncclGroupStart)            \
  APPLY(ncclRecv)                  \
  APPLY(ncclReduceScatter)         \
  APPLY(ncclSend)

namespace llmb::runner::cuda {

// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared
#define LLMB_MEMBER(name) decltype(&::name) name = nullptr;
struct CublasLtFunctions {
  LLMB_CUBLASLT_FUNCTIONS(LLMB_MEMBER)
};
struct CudnnFunctions {
  LLMB_CUDNN_FUNCTIONS(LLMB_MEMBER)
};
struct NcclFunctions {
  LLMB_NCCL_FUNCTIONS(LLMB_MEMBER)
};
#undef LLMB_MEMBER

// Loaded when first asked for; NoDevice says what is missing. Thread-safe.
const CublasLtFunctions& cublaslt();
const CudnnFunctions& cudnn();
const NcclFunctions& nccl();

// As DeviceError::code() has it.
std::string status_code(cublasStatus_t status);
void check(cublasStatus_t status, const std::string& tried);
void check(cudnnStatus_t status, const std::string& tried);
void check(ncclResult_t status, const std::string& tried);

}  // namespace llmb::runner::cuda
