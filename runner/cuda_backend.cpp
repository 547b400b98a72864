#include "runner/cuda/backend.h"
#include "runner/instantiate.h"

namespace llmb::runner {

LLMB_INSTANTIATE_RUNNER(cuda::Backend<kernels::Bf16>);
LLMB_INSTANTIATE_RUNNER(cuda::Backend<float>);

}  // namespace llmb::runner
