// What a plan says of itself to whoever asked for it: every value with where it came from, and what
// to know beforehand: what was asked for but has no effect, how large a checkpoint becomes.
#pragma once

#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/plan.h"

namespace llmb::dispatch {

// `origins`: of those fields of the submission that were not asked for as such.
std::vector<PlannedValue> values_of(const Plan& plan, const ClusterSettings& settings,
                                    const Origins& origins);

// Where the row that counts is a proxy and nobody asked for one; else empty. `recipe`: that row.
std::string proxy_note(const Plan& plan, const parser::Recipe* recipe,
                       const parser::Catalog& catalog);

std::vector<std::string> notes_of(const Plan& plan, const ClusterSettings& settings);

}  // namespace llmb::dispatch
