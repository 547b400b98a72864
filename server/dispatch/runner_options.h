// check_runner_options: whether llmb-step-runner has the options that a submission sets (`--set`),
// with values that it may take.
#pragma once

#include "parser/result.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Options of the model's shape make a proxy, and are refused where none was asked for.
parser::Result<void> check_runner_options(const Submission& wanted);

}  // namespace llmb::dispatch
