// Whether LOAD_CHECKPOINT_PATH names a checkpoint that the job's program reads: nemotron4-25.04's
// "parent folder of the weights directory containing distributed checkpoint files with extension
// *.distcp", or one of llmb-step-runner. Only of what can be seen from this machine.
#pragma once

#include <string>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Refuses a folder that holds none, or one of the other program, and names the right one where it
// is near. What waits for another job (dependency) may find one that is not there yet.
parser::Result<void> check_checkpoint_to_load(const Submission& wanted);

// Where the document wants it elsewhere; mostly empty.
std::string checkpoint_place_note(const Submission& wanted, const ClusterSettings& settings);

}  // namespace llmb::dispatch
