// The command `ceilings` on the CPU: what this machine sustains of what one rank of the model does.
// cuda_ceilings.h is the same for a device.
#pragma once

#include <iosfwd>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// A table on `out`, line by line as it is measured; each measurement goes on for `seconds`.
void print_cpu_ceilings(const RunSettings& settings, double seconds, std::ostream& out);

}  // namespace llmb::runner
