// What this rank's cores sustain, in fp32: matrix products, attention and copies. The CPU's
// counterpart of runner/cuda/ceilings.h.
#pragma once

#include "runner/operation/ceiling.h"

namespace llmb::runner::cpu {

// Tells each as soon as it is known. Each goes on for `seconds`, and at least once.
void measure_ceilings(const CeilingShapes& shapes, double seconds, const CeilingSink& tell);

}  // namespace llmb::runner::cpu
