// Stream: the queue of a device on which a kernel is put. The type is CUDA's cudaStream_t, named
// here without CUDA's headers; where no GPU is, kernels run at once and a stream is only passed on.
#pragma once

struct CUstream_st;

namespace llmb::runner::kernels {

using Stream = CUstream_st*;

}  // namespace llmb::runner::kernels
