// The launch variables that the recipe documents name (ENABLE_PROFILE, DTYPE, JOB_TOTAL_GPUS, …):
// which field of a submission each one means, which others a job may have, and which are secrets.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Nodes, of the 2024 recipe: no field of a submission, but take_node_count_of_job() makes its scale
// of it.
inline constexpr std::string_view kNodeCountVariable = "NUM_NODES";

// Field of a submission -> where its value came from, in words.
using Origins = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view kOfDocument = "the document's default";

// Takes the variables out of `environment` that mean a field of `submission`, and sets the fields
// that are not set yet. `where` names the source: "--env", "the shell". An error names the
// variable.
parser::Result<void> take_launch_variables(Submission& submission, Environment& environment,
                                           std::string_view where, Origins& origins);

// All names that take_launch_variables() knows, and kNodeCountVariable, for reading them from a
// shell.
std::vector<std::string_view> launch_variable_names();

// Those that a document names and nothing here follows: of jobs in its layout they are said to have
// no effect.
std::vector<std::string_view> variables_without_effect();

// Whether a user may set it for a job; `further` are those that the configuration adds.
bool is_allowed_variable(std::string_view name, const std::set<std::string, std::less<>>& further);
std::vector<std::string_view> allowed_variables();

// HF_TOKEN: it reaches a job by the environment of sbatch or launch.sh only.
bool is_secret_variable(std::string_view name);
std::vector<std::string_view> secret_variables();

}  // namespace llmb::dispatch
