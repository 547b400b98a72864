#include "runner/cpu/backend.h"
#include "runner/instantiate.h"

namespace llmb::runner {

LLMB_INSTANTIATE_RUNNER(cpu::Backend<double>);

}  // namespace llmb::runner
