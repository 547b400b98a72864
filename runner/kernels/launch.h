// launch: the one way a kernel is started, for nvcc and for the shim. A kernel is a struct of its
// operands with `void operator()() const`, the code of one thread, and kThreadsMax, its launch
// bound; so a kernel's name, operands and bound travel together.
//
//   struct FillKernel {
//     static constexpr int kThreadsMax = 256;
//     Matrix<float> y;
//     __device__ void operator()() const { … }
//   };
//   launch(FillKernel{y}, {blocks}, 256, 0, stream);
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/kernels/stream.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#else
#include "runner/simt/grid_runner.h"
#endif

namespace llmb::runner::kernels {

struct Grid {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
  bool is_empty() const { return x == 0 || y == 0 || z == 0; }
};

// Blocks of `each` that cover `count`.
inline std::int64_t blocks_for(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

#if defined(__CUDACC__)
template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreadsMax)
    run_kernel(const __grid_constant__ Kernel kernel) {
  kernel();
}

inline void check_launch(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("Could not ") + what + ": " + cudaGetErrorName(status) +
                           ", " + cudaGetErrorString(status) + ".");
}
#endif

// Puts the kernel on the stream and comes back at once. An empty grid is no launch. `threads` is a
// number of whole warps. Throws where CUDA refuses the launch; what goes wrong while it runs shows
// at the stream's next synchronisation. On the shim it has run when this returns.
template <typename Kernel>
void launch(const Kernel& kernel, Grid grid, int threads, std::size_t shared_bytes, Stream stream) {
  if (grid.is_empty()) return;
#if defined(__CUDACC__)
  constexpr std::size_t kSharedBytesWithoutAsking = 48 * 1024;
  if (shared_bytes > kSharedBytesWithoutAsking) {
    check_launch(
        cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)),
        "get a kernel's shared memory");
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                        static_cast<unsigned>(grid.z));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  // Its own answer: the thread's last error may be what a library's call left there.
  check_launch(cudaLaunchKernelEx(&config, run_kernel<Kernel>, kernel), "launch a kernel");
#else
  simt::run_grid(
      kernel,
      {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), static_cast<unsigned>(grid.z)},
      threads, shared_bytes, stream);
#endif
}

}  // namespace llmb::runner::kernels
