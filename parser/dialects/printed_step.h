// Whether two samples are what one line printed twice.
#pragma once

#include "parser/step_sample.h"

namespace llmb::parser {

// Equality in which NaN equals NaN, and segment and offset do not count.
bool prints_the_same(const StepSample& a, const StepSample& b);

}  // namespace llmb::parser
