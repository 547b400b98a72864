// What a log says of a profile window: where it begins, and at its end its operations as a table,
// longest first: on a GPU by the device's clock. Between the two llmb-report knows its steps.
#pragma once

#include <cstdint>
#include <string>

#include "runner/cpu/op_profile.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner {

// "llmb-step-runner profile: from step 20 on"
std::string profile_begin_text(std::int64_t first_step);

// Steps [first_step, stop_step) took `time_s` together on the rank that was profiled. What counted
// its work has its speed, and its share of what was measured of the same; else "-".
std::string op_table_text(const cpu::OpTable& operations, std::int64_t first_step,
                          std::int64_t stop_step, double time_s, const OpCeilings& ceilings = {});

}  // namespace llmb::runner
