// A profile window's operations as a table, longest first: on a GPU by the device's clock.
#pragma once

#include <string>

#include "runner/cpu/op_profile.h"

namespace llmb::runner {

// Steps [first_step, stop_step) took `time_s` together on the rank that was profiled.
std::string op_table_text(const cpu::OpTable& operations, std::int64_t first_step,
                          std::int64_t stop_step, double time_s);

}  // namespace llmb::runner
