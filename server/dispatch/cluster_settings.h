// ClusterSettings: the Slurm cluster that jobs go to, as the configuration names it, completed by
// the cluster_config.yaml of an LLMB installation, which is read where it is.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/slurm_parameters.h"

namespace llmb::dispatch {

struct ClusterSettings {
  std::string name;                    // of the cluster; empty: nothing can be submitted
  std::string workload_folder;         // jobs' runs go to experiments/ below it; a watched root
  std::string workload_folder_origin;  // who named it, in words; may be empty
  std::string llmb_install;            // of an LLMB installation; may be empty
  std::string llmb_repo;
  std::string runner = "llmb-step-runner";
  bool copies_runner = false;  // below the workload folder, which the nodes see
  std::string backend;         // where a submission does not say; empty: what the runner has
  std::string gpu_type;
  std::optional<std::int64_t> gpus_per_node;
  SlurmParameters slurm;                                   // defaults of every submission
  Origins slurm_origins;                                   // of those beyond the configuration's
  Environment environment;                                 // added to every job
  std::set<std::string, std::less<>> environment_allowed;  // beyond the built-in list
  // Launch variables of the shell that submits (ENABLE_PROFILE …); none in a daemon.
  Environment launch_environment;
  bool knows_shell = false;  // launch_environment is that of who submits
  // Sentences on variables of the shell that something else outranks.
  std::vector<std::string> set_aside_notes;
  Environment launch_scripts;  // workload -> an installed recipe's launch.sh
  Environment venvs;           // workload -> the virtual environment of its launch.sh
  bool whole_nodes = true;     // ask for nodes and their memory alone, where GPUs are used
  std::string cpu_bind;        // of srun: "cores"; empty: as the cluster has it; so for mem_bind
  std::string mem_bind;        // "local"
  // Images that a job may ask for, and mounts of every container; see container.h.
  std::vector<std::string> container_images;
  std::vector<std::string> container_mounts;
  bool takes_any_container = false;  // who submits by command line does so as themselves
  std::string slurm_conf;            // SLURM_CONF of the commands; empty: the system's
  std::string command_path = "/usr/local/bin:/usr/bin:/bin";  // where Slurm's commands are
  // How many jobs one token may ask for within a minute, and have at once that have not ended.
  std::int64_t jobs_per_minute = 512;
  std::int64_t jobs_unfinished = 2'048;
  std::chrono::milliseconds command_deadline{20'000};
  std::chrono::milliseconds launch_deadline{120'000};  // of a recipe's launch.sh
  std::chrono::milliseconds poll_interval{5'000};
  // How long an answer of sacct is waited for after a job has left the queue.
  std::chrono::milliseconds accounting_grace{60'000};
};

// What `yaml` (cluster_config.yaml) says and `settings` does not. Secrets in it are not read.
parser::Result<void> apply_llmb_cluster_config(ClusterSettings& settings, const std::string& yaml);

// The folder of a workload's runs in an LLMB installation: its workloads/pretrain_grok1, or, as the
// documents of Grok 1 and Llama 4 spell it, workloads/pretraining_grok1. An error where there is
// neither.
parser::Result<std::string> installed_workload_folder(const std::string& llmb_install,
                                                      const std::string& workload);

// Reads <llmb_install>/cluster_config.yaml where there is one, and checks paths and names.
parser::Result<void> complete_settings(ClusterSettings& settings);

}  // namespace llmb::dispatch
