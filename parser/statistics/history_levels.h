// The levels of a series of runs: where the medians of their step times change, whether the newest
// level drifts, and where their means leave their medians.
#pragma once

#include "parser/statistics/history_run.h"
#include "parser/statistics/history_series.h"

namespace llmb::parser {

// `series`: its runs are known, one at least; what it tells of their step times is added.
void find_levels(const HistoryRuns& runs, const ChangeFinder& find_change_points,
                 HistorySeries& series);

}  // namespace llmb::parser
