// Histories as JSON: the same in the API and on the command line.
#pragma once

#include <string_view>

#include "parser/statistics/run_history.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// "slower", "faster", "steady", "drifting" or "unknown": the newest runs' step time against their
// level.
std::string_view newest_name(parser::NewestLevel newest);

// "more_slow_steps", "fewer_slow_steps", "steady" or "unknown": the same of the means over the
// medians.
std::string_view newest_means_name(parser::NewestLevel newest);

// `runs`: those that `history` was made of.
Json history_json(const parser::HistoryRuns& runs, const parser::RunHistory& history);

}  // namespace llmb::report
