// What a plan says of itself to whoever asked for it: every value with where it came from, and what
// to know beforehand: what was asked for but has no effect, how large a checkpoint becomes.
#pragma once

#include <string>
#include <string_view>
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

// The origin of a GPU type.
inline constexpr std::string_view kOnlyGpuAtScale = "the only one with a recipe at this scale";
// Where it is of that origin and the document's default is another one; else empty.
std::string gpu_type_note(const Submission& wanted, const parser::LaunchDefaults& defaults,
                          const Origins& origins);

std::vector<std::string> notes_of(const Plan& plan, const ClusterSettings& settings);

}  // namespace llmb::dispatch
