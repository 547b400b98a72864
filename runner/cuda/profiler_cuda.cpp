// The profiler by CUDA's runtime and NVTX, which is headers only.
#include "runner/cuda/profiler.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include "runner/cuda/runtime_status.h"

namespace llmb::runner::cuda {

void start_profiler() {
  check(cudaProfilerStart(), "start the profiler's window");
}

void stop_profiler() {
  check(cudaProfilerStop(), "end the profiler's window");
}

void push_range(const char* name) {
  nvtxRangePushA(name);
}

void pop_range() {
  nvtxRangePop();
}

}  // namespace llmb::runner::cuda
