// JobState: what may be said of a submitted job, with the names that stand in the database and in
// the API. How Slurm's own words become one is dispatch's business.
#pragma once

#include <string_view>
#include <vector>

namespace llmb::storage {

enum class JobState {
  submitting,     // recorded; sbatch was not called yet, or has not answered
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
std::vector<JobState> final_job_states();

}  // namespace llmb::storage
