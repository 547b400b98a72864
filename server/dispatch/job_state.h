// JobState: what may be said of a submitted job, and the map from every state of every release of
// Slurm to it. A word that is not known maps to `unknown`, which keeps being asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmb::dispatch {

enum class JobState {
  submitting,     // recorded, sbatch has not answered yet
  not_submitted,  // refused by sbatch, or no job was found
  pending,
  running,
  suspended,
  completing,
  completed,
  failed,
  cancelled,
  timed_out,
  node_failed,
  out_of_memory,
  preempted,
  deadline_passed,
  boot_failed,
  ended,    // nobody knows how
  unknown,  // Slurm said a word that is not known here
};

std::string_view job_state_name(JobState state);
JobState job_state_from_name(std::string_view name);  // `unknown` for any other text
bool is_final(JobState state);
std::vector<std::string> final_state_names();

// All words of one job: a base state with flags ("RUNNING", "COMPLETING"), as later releases have
// it, or one ("CANCELLED by 1000", "CANCELLED+", "TIMEOUT").
JobState job_state_from_slurm(const std::vector<std::string>& words);

// A pending reason that will not pass by waiting, as a sentence with what to do; empty for others.
std::string why_never_starts(std::string_view reason);

}  // namespace llmb::dispatch
