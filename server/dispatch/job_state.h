// The map from every state of every release of Slurm to JobState, and which reasons of a pending
// job will not pass. A word that is not known maps to `unknown`, which keeps being asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/job_state.h"

namespace llmb::dispatch {

using storage::is_final;
using storage::job_state_name;
using storage::JobState;

// All words of one job: a base state with flags ("RUNNING", "COMPLETING"), as later releases have
// it, or one ("CANCELLED by 1000", "CANCELLED+", "TIMEOUT").
JobState job_state_from_slurm(const std::vector<std::string>& words);

// A pending reason that will not pass by waiting, as a sentence with what to do; empty for others.
std::string why_never_starts(std::string_view reason);

}  // namespace llmb::dispatch
