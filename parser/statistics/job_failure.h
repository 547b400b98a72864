// JobFailure: that a scheduler says that a log's job failed. It counts where the log itself shows
// neither its end nor a cause.
#pragma once

#include <string>

#include "parser/statistics/run_summary.h"

namespace llmb::parser {

struct JobFailure {
  std::string cause;  // a class of failure
  std::string word;   // the scheduler's: "node_failed"
};

// As far as its status tells: before its last step, and without a word of why.
bool has_ended_early(RunStatus status);
// Whether blame() would change the summary.
bool lacks_a_cause(const RunSummary& summary);

// Makes a run that ended before its last step without a word a failed one. `summary` is of a log
// that may not grow any more; others stay as they are.
void blame(const JobFailure& failure, RunSummary& summary);
// Whether that was done, as the words of its reason show.
bool is_blamed(const RunSummary& summary);

}  // namespace llmb::parser
