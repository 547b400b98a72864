// Whether a run's passes can be CUDA graphs, and what is said of it.
#pragma once

#include <string>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Why none can be, in words; empty where they can: with which the answer may change, as experts'
// products are chosen later.
std::string why_no_graphs(const RunSettings& settings);

// Asked for, and possible.
bool has_graphs(const RunSettings& settings);

// A line: what is a graph, or why nothing is; of a run that was not asked for them, nothing.
std::string graphs_text(const RunSettings& settings);

}  // namespace llmb::runner
