// What a run does with its GPUs' memory where nobody has said: whether copies of its weights stay
// for a step, and how many layers it computes again. Decided once, from the plan and what a GPU of
// the type has, so that all ranks do alike.
#pragma once

#include <cstdint>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Sets keeps_fp8_weights; and more recompute_layers where the plan does not fit, the options do not
// say how many, and some number of them makes it fit, with a note that says so. A published row ran
// on these GPUs by a program that keeps less.
void choose_by_memory(RunSettings& settings, std::int64_t capacity_bytes);

}  // namespace llmb::runner
