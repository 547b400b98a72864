// Of a run that was profiled, and whose log does not tell when: asked for its numbers without the
// profiled steps, none can be left out, and whoever asked is to know.
#pragma once

#include <string_view>

#include "parser/statistics/run_summary.h"
#include "parser/step_interruption.h"

namespace llmb::parser {

// Adds it to the summary's reason, where `without` asks for it and no step of the window is known.
void tell_unknown_profile(RunSummary& summary, bool is_profiled,
                          const StepInterruptionSet& without);

// What was added, for a table's row; empty where nothing was.
std::string_view unknown_profile_words(const RunSummary& summary);

}  // namespace llmb::parser
