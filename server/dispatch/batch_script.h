// The batch script of a plan, where its run's files lie, and the argv of sbatch that puts both into
// Slurm. Pure: nothing is written or started here.
//
// The script has no #SBATCH line; every option goes by argv. What users said stands in it in single
// quotes only, and a Plan holds nothing but printable text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/plan.h"

namespace llmb::dispatch {

// One attempt to run a plan.
struct Launch {
  std::string submission_id;        // new_submission_id(); the job's comment
  std::string timestamp;            // ends the folder's name: Unix seconds, or nanoseconds
  std::int64_t launched_at_s = 0;   // Unix
  std::int64_t launched_at_us = 0;  // microseconds of that second
  std::int64_t utc_offset_s = 0;    // of this machine, for llmb-config's local time
};
// Now. `is_crowded`: another launch of the experiment has this second's name, so this one is named
// by the nanosecond, which differs with every call of this process.
Launch new_launch(std::string submission_id, bool is_crowded);
// The launch of a job that was recorded under this launch id.
Launch recorded_launch(std::string submission_id, std::string_view launch_id);

// The documented layout:
//   experiments/<name>/<name>_<timestamp>/<name>_sbatch.sh
//   experiments/<name>/<name>_<timestamp>/<name>/log-<account>.<name>_<jobid>_<restart>.out
//                                                sbatch_<account>.<name>_<jobid>.out
//                                                llmb-config_<JOBID>.yaml
// and of 2024, where all but the log and llmb-config lie in the launch's own folder:
//   results/24.11/fp8/314b/512/log-<name>_<jobid>_<restart>.out
//   results/24.11/fp8/314b/512/<name>_<timestamp>/<name>/sbatch_<name>_<jobid>.out
struct RunPlace {
  std::string launch_id;      // <name>_<timestamp>
  std::string launch_folder;  // …/experiments/<name>/<launch_id>
  std::string run_folder;     // <launch_folder>/<name>
  std::string log_folder;     // of the log and its llmb-config: the same, or the folder of 2024
  std::string job_name;       // <account>.<name>, or <name>
  std::string script_file;
};
RunPlace run_place(const Plan& plan, const ClusterSettings& settings, const Launch& launch);

std::string batch_script(const Plan& plan, const ClusterSettings& settings, const Launch& launch);

// The first word is "sbatch".
std::vector<std::string> sbatch_arguments(const Plan& plan, const ClusterSettings& settings,
                                          const Launch& launch);

// What the launcher writes beside the log, in its form and order; `job_id` goes into a quoted text.
std::string llmb_config_text(const Plan& plan, const ClusterSettings& settings,
                             const Launch& launch, std::string_view job_id);

// A launch.sh that submits by itself takes Slurm's parameters from these variables.
Environment recipe_slurm_environment(const SlurmParameters& slurm);
// Whether that option goes by ADDITIONAL_SLURM_PARAMS, and has no variable of its own.
bool goes_by_additional_params(std::string_view option);

}  // namespace llmb::dispatch
