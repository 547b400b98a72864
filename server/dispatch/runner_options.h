// The options of llmb-step-runner: whether it has those that a submission sets (`--set`), with
// values that it may take; and all that a job gives it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/recipe.h"
#include "parser/result.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Options of the model's shape make a proxy, and are refused where none was asked for.
parser::Result<void> check_runner_options(const Submission& wanted);

// Whether the job has CUDA graphs: the runner's by what it is asked for, an installed recipe's by
// its document's `row`, which may be null or not say.
std::optional<bool> cuda_graphs_of(const Submission& wanted, const parser::Recipe* row);

// `wanted`: completed.
std::vector<std::string> runner_arguments(const Submission& wanted);

}  // namespace llmb::dispatch
