// Steps in few bytes, as databases keep those of settled logs and as agents send them: a column for
// each field of a step, of which most hold one value for all steps, then the other fields of their
// lines. What was packed is read by later versions, whose steps have further fields behind these.
#pragma once

#include <span>
#include <vector>

#include "parser/step_sample.h"
#include "storage/packed_values.h"

namespace llmb::storage {

void pack_steps(PackWriter& writer, std::span<const parser::StepSample> steps);
std::vector<parser::StepSample> unpack_steps(PackReader& reader);  // throws BadField

}  // namespace llmb::storage
