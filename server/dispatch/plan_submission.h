// plan_submission: makes a Plan of a submission, or says why there is none. It calls nothing and
// writes nothing.
#pragma once

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/runner_facts.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// By its name or an alias; the error says which are known, and what was meant. The workload lives
// as long as the catalog.
parser::Result<const parser::Workload*> known_workload(const std::string& typed,
                                                       const parser::Catalog& catalog);

// The error says what was wrong and what is allowed. `runner`: what it says of itself.
parser::Result<Plan> plan_submission(const Submission& submission, const ClusterSettings& settings,
                                     const parser::Catalog& catalog, const RunnerFacts& runner);

}  // namespace llmb::dispatch
