// The launch variables that the recipe documents name (ENABLE_PROFILE, DTYPE, JOB_TOTAL_GPUS, …):
// which field of a submission each one means, which others a job may have, and which are secrets.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/submission.h"
#include "server/dispatch/value_origin.h"

namespace llmb::dispatch {

// Nodes, of the 2024 recipe: no field of a submission, but take_node_count() makes its scale of it.
inline constexpr std::string_view kNodeCountVariable = "NUM_NODES";

// Where variables are.
inline constexpr std::string_view kOfJob = "the job's variables";
inline constexpr std::string_view kOfShell = "the shell";

// Takes the variables out of `environment` that mean a field of `submission`, and sets the fields
// that are not set yet, spelled as the catalog does. `where` names the source: "the job's
// variables", "the shell". Sentences on those whose field has another value. An error names the
// variable.
parser::Result<std::vector<std::string>> take_launch_variables(Submission& submission,
                                                               Environment& environment,
                                                               std::string_view where,
                                                               Origins& origins);

// All names that take_launch_variables() knows, and kNodeCountVariable, for reading them from a
// shell.
std::vector<std::string_view> launch_variable_names();

// Those of a shell that nothing here follows, and whoever set them may expect it: they are said to
// have no effect.
std::vector<std::string_view> variables_without_effect();

// Whether a user may set it for a job; `further` are those that the configuration adds.
bool is_allowed_variable(std::string_view name, const std::set<std::string, std::less<>>& further);
std::vector<std::string_view> allowed_variables();

// HF_TOKEN: it reaches a job by the environment of sbatch or launch.sh only.
bool is_secret_variable(std::string_view name);
std::vector<std::string_view> secret_variables();

}  // namespace llmb::dispatch
