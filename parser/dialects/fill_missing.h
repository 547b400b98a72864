// Two lines about one step: what the one says beside the other.
#pragma once

#include "parser/step_sample.h"

namespace llmb::parser {

// Gives `into` what it lacks and `from` has: step time with its resolution, every other optional
// field, the instant, extra fields by name. Whose step it is (segment, iteration, place) stays.
void fill_missing(StepSample& into, const StepSample& from);

}  // namespace llmb::parser
