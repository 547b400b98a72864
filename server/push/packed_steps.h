// Steps as agents send them: a column for each field of a step, of which most hold one value for
// all steps, then the other fields of their lines.
#pragma once

#include <vector>

#include "parser/step_sample.h"
#include "server/push/packed_values.h"

namespace llmb::push {

void pack_steps(PackWriter& writer, const std::vector<parser::StepSample>& steps);
std::vector<parser::StepSample> unpack_steps(PackReader& reader);  // throws BadTelling

}  // namespace llmb::push
