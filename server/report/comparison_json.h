// Comparisons as JSON: the same object in the API and on the command line.
#pragma once

#include <vector>

#include "parser/statistics/run_comparison.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// {"count", …}: the estimate's fields, null where there is none.
Json mean_estimate_json(const std::optional<parser::MeanEstimate>& estimate);

// Null where there is none.
Json published_standing_json(const std::optional<parser::PublishedStanding>& standing);

Json marks_json(const std::vector<parser::RunMarkReason>& marks);

// `runs`: those that `comparison` was made of.
Json comparison_json(const std::vector<parser::ComparedRun>& runs,
                     const parser::RunComparison& comparison);

}  // namespace llmb::report
