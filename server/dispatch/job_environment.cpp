#include "server/dispatch/job_environment.h"

#include <fmt/format.h>

#include <string>

#include "server/dispatch/container.h"

namespace llmb::dispatch {

Environment job_environment(const Submission& wanted, const ClusterSettings& settings,
                            const parser::LaunchDefaults& defaults) {
  Environment job = settings.environment;
  for (const auto& [name, value] : wanted.environment) job[name] = value;
  job["JOB_TOTAL_GPUS"] = fmt::to_string(wanted.scale);
  job["GPUS_PER_NODE"] = fmt::to_string(*wanted.gpus_per_node);
  job["DTYPE"] = wanted.dtype;
  job["MODEL_SIZE"] = wanted.model_size;
  job["GPU_TYPE"] = wanted.gpu_type;
  job["LLMB_WORKLOAD"] = settings.workload_folder;
  // Nemotron 4 and the Grok 1 of 2024 know no other name for it.
  job["STAGE_PATH"] = settings.workload_folder;
  if (!settings.llmb_install.empty()) job["LLMB_INSTALL"] = settings.llmb_install;
  if (!settings.llmb_repo.empty()) job["LLMB_REPO"] = settings.llmb_repo;
  if (wanted.nccl_trace) job["ENABLE_NCCLTRACE"] = "true";
  if (wanted.checkpoint) job["ENABLE_CHECKPOINT"] = "true";
  if (!wanted.load_checkpoint_path.empty()) {
    job["LOAD_CHECKPOINT_PATH"] = wanted.load_checkpoint_path;
  }
  // The recipes' launch.sh makes srun's --container-image and --container-mounts of them.
  if (wanted.launcher == "recipe") {
    if (!wanted.container_image.empty()) job["RUN_CONF_IMAGE"] = wanted.container_image;
    const std::string mounts = container_mounts(wanted, settings);
    if (!mounts.empty()) job["RUN_CONF_MOUNTS"] = mounts;
  }
  if (!wanted.profile) return job;
  job["ENABLE_PROFILE"] = "true";
  if (wanted.gpu_metrics) job["ENABLE_GPU_METRICS"] = "true";
  const auto add_step = [&](const char* name, const std::optional<std::int64_t>& step) {
    if (step) job[defaults.profile_variables + name] = fmt::to_string(*step);
  };
  add_step("START_STEP", wanted.profile_start_step);
  add_step("STOP_STEP", wanted.profile_stop_step);
  if (wanted.profile_ranks != defaults.profile_ranks) {
    job["RUN_CONF_PROFILE_RANKS"] = wanted.profile_ranks;
  }
  return job;
}

}  // namespace llmb::dispatch
