// A recipe's launch.sh, run where the dispatcher runs, as its document says: in the recipe's folder
// and its virtual environment, with its launch variables. It submits a job of its own, whose number
// it prints; that job is then ours.
#pragma once

#include <cstdint>
#include <string>

#include "server/dispatch/batch_script.h"
#include "server/dispatch/slurm_commands.h"

namespace llmb::dispatch {

struct LaunchedRecipe {
  SbatchAnswer answer;
  std::int64_t submit_time_s = 0;  // as Slurm has it
  // Where the job's files lie, and the launch that the layout makes of it; empty where Slurm did
  // not say, or it is outside the folder for runs.
  std::string run_folder;
  std::string launch_id;
};

// Waits for launch.sh up to the settings' launch deadline; what it prints is kept in the launch
// folder. The number it prints counts only where Slurm has a job of this user with it that was
// submitted since.
LaunchedRecipe launch_recipe(const Plan& plan, const ClusterSettings& settings,
                             const Launch& launch, const RunPlace& place,
                             const Environment& secrets, const SlurmCommands& slurm);

// All variables that launch.sh gets, and no others: the job's, those by which it takes Slurm's
// options, those of its virtual environment, `secrets`, and the submission's mark. An error where
// its virtual environment cannot be told.
parser::Result<Environment> recipe_environment(const Plan& plan, const ClusterSettings& settings,
                                               const Launch& launch, const Environment& secrets);

// The last job number in what launch.sh printed: "Submitted batch job 41", "Job id: 41". Pure.
std::optional<std::int64_t> printed_job_id(std::string_view output);

// The virtual environment of a workload: the configuration's, else $STAGE_PATH/venv, else the only
// one in $LLMB_INSTALL/venvs. Empty where there is none; an error where there are several.
parser::Result<std::string> recipe_venv(const std::string& workload,
                                        const ClusterSettings& settings);

}  // namespace llmb::dispatch
