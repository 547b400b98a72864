// Whether a run keeps its weights in FP8 for a whole step, or casts them anew in every pass, which
// takes longer and gives the same numbers. Decided once, by what the plan leaves of a GPU's memory.
#pragma once

#include <cstdint>
#include <string>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Where several micro-batches use the copies, no rank has a share of a weight only, and the plan
// with the copies fits with a twentieth of the memory to spare.
bool choose_to_keep_fp8_weights(RunSettings settings, std::int64_t capacity_bytes);

// A line: which it is, and why; of a run that multiplies no FP8 elements, nothing.
std::string fp8_weights_text(const RunSettings& settings);

}  // namespace llmb::runner
