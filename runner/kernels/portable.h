// LLMB_BOTH: marks a function that runs on the host and in kernels. A word of its own, because
// these headers are read by g++ too, without CUDA's headers and without the shim.
#pragma once

#if defined(__CUDACC__)
#define LLMB_BOTH __host__ __device__
#else
#define LLMB_BOTH
#endif
