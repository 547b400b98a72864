// A profile window's operations as a table, longest first: on a GPU by the device's clock.
#pragma once

#include <string>

#include "runner/cpu/op_profile.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner {

// Steps [first_step, stop_step) took `time_s` together on the rank that was profiled. What counted
// its work has its speed, and its share of what was measured of the same; else "-".
std::string op_table_text(const cpu::OpTable& operations, std::int64_t first_step,
                          std::int64_t stop_step, double time_s, const OpCeilings& ceilings = {});

}  // namespace llmb::runner
