// The options of llmb-step-runner: whether it has those that a submission sets (`--set`), with
// values that it may take; and all that a job gives it.
#pragma once

#include <string>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Options of the model's shape make a proxy, and are refused where none was asked for.
parser::Result<void> check_runner_options(const Submission& wanted);

// `wanted`: completed.
std::vector<std::string> runner_arguments(const Submission& wanted);

}  // namespace llmb::dispatch
