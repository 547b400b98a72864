// The ways to write scaling series down on the command line: a table for eyes, csv with one line
// for each scale.
#pragma once

#include <iosfwd>
#include <vector>

#include "parser/statistics/scaling_series.h"

namespace llmb::report {

void write_scaling_table(const parser::ScalingRuns& runs, const parser::ScalingReport& report,
                         std::ostream& out);
void write_scaling_csv(const parser::ScalingReport& report, std::ostream& out);

}  // namespace llmb::report
