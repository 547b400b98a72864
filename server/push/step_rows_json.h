// Steps as JSON, as agents send them: the names of the columns once, then an array a step, with the
// other fields of its line behind the columns.
#pragma once

#include <vector>

#include "parser/step_sample.h"
#include "server/push/json_fields.h"

namespace llmb::push {

Json steps_json(const std::vector<parser::StepSample>& steps);
std::vector<parser::StepSample> read_steps(const Json& json);  // throws BadTelling

}  // namespace llmb::push
