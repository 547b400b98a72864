// ClusterSettings: the Slurm cluster that jobs go to, as the configuration names it, completed by
// the cluster_config.yaml of an LLMB installation, which is read where it is.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "parser/result.h"
#include "server/dispatch/slurm_parameters.h"

namespace llmb::dispatch {

struct ClusterSettings {
  std::string name;             // of the cluster; empty: nothing can be submitted
  std::string workload_folder;  // jobs' runs go to experiments/ below it; a watched root
  std::string llmb_install;     // of an LLMB installation; may be empty
  std::string llmb_repo;
  std::string runner = "llmb-step-runner";
  std::string backend = "cuda";  // where a submission does not say
  std::string gpu_type;
  std::optional<std::int64_t> gpus_per_node;
  SlurmParameters slurm;                                   // defaults of every submission
  Environment environment;                                 // added to every job
  std::set<std::string, std::less<>> environment_allowed;  // beyond the built-in list
  Environment launch_scripts;  // workload -> an installed recipe's launch.sh
  std::string slurm_conf;      // SLURM_CONF of the commands; empty: the system's
  std::string command_path = "/usr/local/bin:/usr/bin:/bin";  // where Slurm's commands are
  std::chrono::milliseconds command_deadline{20'000};
  std::chrono::milliseconds poll_interval{5'000};
  // How long an answer of sacct is waited for after a job has left the queue.
  std::chrono::milliseconds accounting_grace{60'000};
};

// What `yaml` (cluster_config.yaml) says and `settings` does not. Secrets in it are not read.
parser::Result<void> apply_llmb_cluster_config(ClusterSettings& settings, const std::string& yaml);

// Reads <llmb_install>/cluster_config.yaml where there is one, and checks paths and names.
parser::Result<void> complete_settings(ClusterSettings& settings);

}  // namespace llmb::dispatch
