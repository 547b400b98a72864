#include "server/cli/cluster_section.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace llmb::cli {
namespace {

using dispatch::ClusterSettings;

std::chrono::milliseconds seconds_of(const ConfigurationReader& reader, const YAML::Node& node,
                                     const std::string& key) {
  return std::chrono::seconds(reader.integer(node, key, 1, 3'600));
}

void add_texts(KeyHandlers& handlers, const ConfigurationReader& reader,
               ClusterSettings& settings) {
  const auto add = [&](const char* key, std::string& into) {
    handlers.emplace_back(
        key, [&reader, &into, key](const YAML::Node& node) { into = reader.text(node, key); });
  };
  // Absolute, for jobs run elsewhere.
  const auto add_path = [&](const char* key, std::string& into) {
    handlers.emplace_back(key, [&reader, &into, key](const YAML::Node& node) {
      into = std::filesystem::absolute(reader.path(node, key)).string();
    });
  };
  add("name", settings.name);
  add_path("workload_folder", settings.workload_folder);
  add_path("llmb_install", settings.llmb_install);
  add_path("llmb_repo", settings.llmb_repo);
  add("runner", settings.runner);
  add("backend", settings.backend);
  add("gpu_type", settings.gpu_type);
  add_path("slurm_conf", settings.slurm_conf);
  add("command_path", settings.command_path);
  add("cpu_bind", settings.cpu_bind);
  add("mem_bind", settings.mem_bind);
}

void add_maps(KeyHandlers& handlers, const ConfigurationReader& reader, ClusterSettings& settings) {
  handlers.emplace_back("slurm", [&](const YAML::Node& node) {
    for (const auto& [name, value] : reader.text_map(node, "slurm")) {
      auto added = dispatch::add_slurm_parameter(settings.slurm, name, value, "slurm");
      if (!added) reader.complain(node.Mark(), added.error().message);
    }
  });
  handlers.emplace_back("environment", [&](const YAML::Node& node) {
    settings.environment = reader.text_map(node, "environment");
  });
  handlers.emplace_back("environment_allowed", [&](const YAML::Node& node) {
    const auto names = reader.texts(node, "environment_allowed");
    settings.environment_allowed.insert(names.begin(), names.end());
  });
  handlers.emplace_back("container_images", [&](const YAML::Node& node) {
    settings.container_images = reader.texts(node, "container_images");
  });
  handlers.emplace_back("container_mounts", [&](const YAML::Node& node) {
    settings.container_mounts = reader.texts(node, "container_mounts");
  });
  handlers.emplace_back("launch_scripts", [&](const YAML::Node& node) {
    settings.launch_scripts = reader.text_map(node, "launch_scripts");
  });
  handlers.emplace_back(
      "venvs", [&](const YAML::Node& node) { settings.venvs = reader.text_map(node, "venvs"); });
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// With a slash at its end or without.
bool is_same_path(const std::filesystem::path& a, const std::filesystem::path& b) {
  return (a / "").lexically_normal() == (b / "").lexically_normal();
}

// What is there already counts, from `counts.origin`.
void take_variable(ClusterSettings& settings, std::string& into, const char* name,
                   dispatch::NamedValue counts) {
  const std::string value = variable(name);
  if (into.empty()) {
    into = value;
  } else if (!value.empty() && !is_same_path(value, into)) {
    counts.value = into;
    settings.set_aside_notes.push_back(
        dispatch::set_aside_note(name + std::string(" of the shell"), value, counts));
  }
}

// The runner that was built, or installed, beside this program.
void find_runner(ClusterSettings& settings) {
  if (settings.runner != ClusterSettings{}.runner) return;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / settings.runner;
  if (!error && std::filesystem::exists(beside, error)) settings.runner = beside.string();
}

parser::Result<void> choose_workload_folder(ClusterSettings& settings,
                                            const std::set<std::string>& workloads) {
  std::string& folder = settings.workload_folder;
  std::string& origin = settings.workload_folder_origin;
  if (!folder.empty() && origin.empty()) origin = dispatch::kOfCluster;
  for (const char* const name : {"LLMB_WORKLOAD", "STAGE_PATH"}) {
    take_variable(settings, folder, name, {"workload_folder", "", origin});
    if (!folder.empty() && origin.empty()) origin = name + std::string(" of the shell");
  }
  if (!folder.empty()) return {};
  if (settings.llmb_install.empty() || workloads.empty()) return {};  // the check says it
  if (workloads.size() > 1) {
    return parser::fail(
        "nothing names a folder for runs but LLMB_INSTALL, which has one for each workload, and "
        "these jobs are of several: set LLMB_WORKLOAD, or submit each workload by itself");
  }
  auto found = dispatch::installed_workload_folder(settings.llmb_install, *workloads.begin());
  if (!found) return tl::unexpected(found.error());
  folder = std::move(*found);
  origin = variable("LLMB_INSTALL") == settings.llmb_install
               ? "workloads/ of LLMB_INSTALL of the shell"
               : "workloads/ of 'llmb_install' in the cluster's configuration";
  return {};
}

}  // namespace

const std::string_view kClusterHelp =
    R"(The cluster (section 'cluster' of a --config FILE, every key but name optional):
  cluster:
    name: eos
    workload_folder: /lustre/llmb/workloads/pretrain_grok1   # else $LLMB_WORKLOAD, $STAGE_PATH,
                                    # else to submit: workloads/<workload> of llmb_install
    llmb_install: /lustre/llmb      # else $LLMB_INSTALL; its cluster_config.yaml is read
    llmb_repo: /lustre/llmb/llmb_repo   # else $LLMB_REPO, else what cluster_config.yaml says
    submitters: [ci, alice]         # names of tokens that may submit over HTTP; nobody without
    slurm: {account: bench, partition: batch, gpus-per-node: 8, exclusive: }
    gpu_type: gb200
    gpus_per_node: 4
    backend: cuda                   # or cpu; else what the runner says that it has
    whole_nodes: true               # GPU jobs ask for nodes alone, with all their memory
    cpu_bind: cores                 # of srun; mem_bind: local
    runner: llmb-step-runner        # in $PATH of the nodes, or an absolute path
    copy_runner: false              # true: jobs start a copy of it in workload_folder/programs
    launch_scripts: {pretrain_grok1: /lustre/llmb/llmb_repo/grok1/launch.sh}   # else that of
                                    # the document's folder in llmb_repo
    venvs: {pretrain_grok1: /lustre/llmb/venvs/nemo2-grok}   # else the only one there is
    container_images: [/lustre/llmb/images/nvidia+nemo+25.04.00.sqsh]   # those to choose among
    container_mounts: ["/lustre:/lustre"]   # of every container
    environment: {NCCL_IB_HCA: mlx5}
    environment_allowed: [MY_FABRIC_SETTING]
    slurm_conf: /etc/slurm/slurm.conf
    command_path: /usr/local/bin:/usr/bin:/bin
    jobs_per_minute: 512            # of one token; and jobs_unfinished: 2048
    command_deadline_s: 20
    launch_deadline_s: 120          # of a launch.sh
    poll_interval_s: 5
    accounting_grace_s: 60)";

ClusterSection read_cluster_section(const ConfigurationReader& reader, const YAML::Node& node) {
  ClusterSection section;
  ClusterSettings& settings = section.settings;
  KeyHandlers handlers;
  add_texts(handlers, reader, settings);
  add_maps(handlers, reader, settings);
  handlers.emplace_back("submitters", [&](const YAML::Node& value) {
    section.submitters = reader.texts(value, "submitters");
  });
  handlers.emplace_back("gpus_per_node", [&](const YAML::Node& value) {
    settings.gpus_per_node = reader.integer(value, "gpus_per_node", 1, 72);
  });
  handlers.emplace_back("whole_nodes", [&](const YAML::Node& value) {
    settings.whole_nodes = reader.boolean(value, "whole_nodes");
  });
  handlers.emplace_back("copy_runner", [&](const YAML::Node& value) {
    settings.copies_runner = reader.boolean(value, "copy_runner");
  });
  handlers.emplace_back("jobs_per_minute", [&](const YAML::Node& value) {
    settings.jobs_per_minute = reader.integer(value, "jobs_per_minute", 1, 1'000'000);
  });
  handlers.emplace_back("jobs_unfinished", [&](const YAML::Node& value) {
    settings.jobs_unfinished = reader.integer(value, "jobs_unfinished", 1, 1'000'000);
  });
  handlers.emplace_back("launch_deadline_s", [&](const YAML::Node& value) {
    settings.launch_deadline = seconds_of(reader, value, "launch_deadline_s");
  });
  handlers.emplace_back("command_deadline_s", [&](const YAML::Node& value) {
    settings.command_deadline = seconds_of(reader, value, "command_deadline_s");
  });
  handlers.emplace_back("poll_interval_s", [&](const YAML::Node& value) {
    settings.poll_interval = seconds_of(reader, value, "poll_interval_s");
  });
  handlers.emplace_back("accounting_grace_s", [&](const YAML::Node& value) {
    settings.accounting_grace = seconds_of(reader, value, "accounting_grace_s");
  });
  reader.read_map(node, "cluster", handlers);
  if (settings.name.empty()) reader.complain(node.Mark(), "the cluster has no 'name'");
  return section;
}

parser::Result<void> complete_cluster(ClusterSettings& settings,
                                      const std::set<std::string>& workloads) {
  settings.set_aside_notes.clear();
  const auto take = [&](std::string& into, const char* name, const char* key) {
    take_variable(settings, into, name, {key, "", std::string(dispatch::kOfCluster)});
  };
  take(settings.llmb_install, "LLMB_INSTALL", "llmb_install");
  take(settings.llmb_repo, "LLMB_REPO", "llmb_repo");
  if (auto chosen = choose_workload_folder(settings, workloads); !chosen) return chosen;
  take(settings.slurm_conf, "SLURM_CONF", "slurm_conf");
  dispatch::Environment environment;
  for (const char* const name :
       {"SBATCH_ACCOUNT", "SBATCH_PARTITION", "SBATCH_GPUS_PER_NODE", "SBATCH_TIMELIMIT",
        "SBATCH_RESERVATION", "SBATCH_QOS", "SBATCH_CONSTRAINT", "SLURM_ACCOUNT", "SLURM_PARTITION",
        "SLURM_GPUS_PER_NODE", "ADDITIONAL_SLURM_PARAMS"}) {
    environment[name] = variable(name);
  }
  auto of_shell = dispatch::slurm_parameters_of(environment);
  if (!of_shell) return tl::unexpected(of_shell.error());
  // What somebody set in the shell outranks what the file says for everybody.
  dispatch::fill_missing(of_shell->parameters, settings.slurm);
  settings.slurm = std::move(of_shell->parameters);
  settings.slurm_origins = std::move(of_shell->origins);
  settings.set_aside_notes.insert(settings.set_aside_notes.end(), of_shell->set_aside_notes.begin(),
                                  of_shell->set_aside_notes.end());
  find_runner(settings);
  return dispatch::complete_settings(settings);
}

}  // namespace llmb::cli
