// Histories as JSON and as a table: the same in the API and on the command line.
#pragma once

#include <iosfwd>
#include <vector>

#include "parser/statistics/run_history.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// `runs`: those that `history` was made of.
Json history_json(const std::vector<parser::ComparedRun>& runs,
                  const std::vector<parser::HistorySeries>& history);

void write_history_table(const std::vector<parser::ComparedRun>& runs,
                         const std::vector<parser::HistorySeries>& history, std::ostream& out);

}  // namespace llmb::report
