// The profiler by CUDA's runtime and NVTX, which is headers only.
#include "runner/cuda/profiler.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

namespace llmb::runner::cuda {

// Where no tool listens, or one that is not to be told, the answer may be an error: no reason for a
// run to end.
void start_profiler() {
  if (cudaProfilerStart() != cudaSuccess) cudaGetLastError();
}

void stop_profiler() {
  if (cudaProfilerStop() != cudaSuccess) cudaGetLastError();
}

void push_range(const char* name) {
  nvtxRangePushA(name);
}

void pop_range() {
  nvtxRangePop();
}

}  // namespace llmb::runner::cuda
