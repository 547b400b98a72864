// Scaling series as JSON: the same object in the API and on the command line.
#pragma once

#include <cstddef>
#include <limits>

#include "parser/statistics/scaling_series.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// `runs`: those that `report` was made of. Of each point, and of each scale's runs that are left
// out for the same marks, at most `runs_max` are named, those that were launched last.
Json scaling_json(const parser::ScalingRuns& runs, const parser::ScalingReport& report,
                  std::size_t runs_max = std::numeric_limits<std::size_t>::max());

}  // namespace llmb::report
