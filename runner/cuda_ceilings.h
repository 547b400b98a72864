// The command `ceilings` on a CUDA device: what ceilings_command.h is for the CPU. Linked only
// where the backend is built.
#pragma once

#include <iosfwd>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// On this machine's first device, with its clocks and power as NVML tells them. Throws
// cuda::DeviceError.
void print_cuda_ceilings(const RunSettings& settings, double seconds, std::ostream& out);

}  // namespace llmb::runner
