// The ways to write histories down on the command line: a table for eyes, csv with one line for
// each run. `runs` are those that `history` was made of.
#pragma once

#include <iosfwd>

#include "parser/statistics/run_history.h"

namespace llmb::report {

void write_history_table(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                         std::ostream& out);

// A change stands in the line of the first run of the new level, a drift in that of the run where
// it begins.
void write_history_csv(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                       std::ostream& out);

}  // namespace llmb::report
