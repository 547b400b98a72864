// Scaling series as JSON: the same object in the API and on the command line.
#pragma once

#include <vector>

#include "parser/statistics/scaling_series.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// `runs`: those that `report` was made of.
Json scaling_json(const std::vector<parser::ComparedRun>& runs,
                  const parser::ScalingReport& report);

}  // namespace llmb::report
