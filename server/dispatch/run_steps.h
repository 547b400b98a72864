// How many steps the run of a job is planned to do, and whether they can make a complete run: some
// end before the window that a reader of its log measures.
#pragma once

#include <cstdint>
#include <string>

#include "parser/catalog/catalog.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

struct RunSteps {
  std::int64_t count = 0;
  std::string origin;          // "asked for", "the document's default" …
  bool is_documented = false;  // what the document has where nothing else is said
};

// 50 steps, of which 45 to 50 are profiled; of Nemotron 4 a profiled job runs for 25, and 20 to 25
// are.
std::int64_t documented_steps(const Submission& wanted);

RunSteps run_steps(const Submission& wanted, const ClusterSettings& settings);

// Why no run of the plan is ever complete: its steps end before the window. Empty where one may be,
// and where it is not known beforehand which window counts: of a recipe's launch.sh, and where a
// document that has the run's row makes its results of the last step.
std::string why_never_complete(const Plan& plan, const ClusterSettings& settings,
                               const parser::Catalog& catalog);

}  // namespace llmb::dispatch
