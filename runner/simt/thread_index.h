// Which thread of which block runs: CUDA's own names for it, set by BlockRunner before a lane goes
// on. Everything else that stands in for CUDA's names is in builtins.h.
#pragma once

namespace llmb::runner::simt {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

}  // namespace llmb::runner::simt

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
inline constinit thread_local llmb::runner::simt::Dim3 threadIdx{0, 0, 0};
inline constinit thread_local llmb::runner::simt::Dim3 blockIdx{0, 0, 0};
inline constinit thread_local llmb::runner::simt::Dim3 blockDim{1, 1, 1};
inline constinit thread_local llmb::runner::simt::Dim3 gridDim{1, 1, 1};
// NOLINTEND(readability-identifier-naming)
