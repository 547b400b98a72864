// The container that a job's ranks run in, by pyxis, Slurm's plugin: options of srun. What is in an
// image runs as the user who submits, and so does what is mounted over it: who asks over HTTP may
// choose among what the configuration lists.
#pragma once

#include <string>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

struct Plan;

// Who has RUN_CONF_IMAGE in the shell has it for recipes; the runner may not even start in there,
// and runs in the container of its own option only. Says so where something was left out, else
// nothing.
std::string leave_out_recipes_container(Submission& wanted, Origins& origins);

// Whether `wanted` may have the container that it asks for, if any.
parser::Result<void> check_container(const Submission& wanted, const ClusterSettings& settings);

// What of its container may be missing where the job runs; looks at the image's file.
std::vector<std::string> container_notes(const Submission& wanted, const ClusterSettings& settings);

// The configuration's mounts and those asked for, separated by commas; empty without a container.
std::string container_mounts(const Submission& wanted, const ClusterSettings& settings);

// For the srun that starts the runner: image, mounts (the folder for runs, the runner's own and the
// checkpoint to load, too) and working directory, one word each. Empty without a container.
std::vector<std::string> container_options(const Plan& plan, const ClusterSettings& settings,
                                           const std::string& run_folder);

}  // namespace llmb::dispatch
