#include "server/dispatch/plan_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "server/dispatch/checkpoint_account.h"
#include "server/dispatch/container.h"

namespace llmb::dispatch {
namespace {

constexpr std::string_view kAskedFor = "asked for";
constexpr std::string_view kOfItsDocument = "the document's default";

struct PlannedSteps {
  std::int64_t count = 0;
  std::string_view count_origin;
  std::int64_t profile_start = 0;
  std::int64_t profile_stop = 0;
  std::string_view profile_origin;
};

// Of a profiled job. Its documents: 50 steps, of which 45 to 50 are profiled; of Nemotron 4 the job
// runs for 25, and 20 to 25 are. llmb-step-runner profiles the last five of any other number, and
// counts the same (runner/plan/run_settings.cpp, apply_steps).
PlannedSteps planned_steps(const Submission& wanted) {
  constexpr std::int64_t kProfiled = 5;
  PlannedSteps steps;
  steps.count = wanted.workload == "pretrain_nemotron4" ? 25 : 50;
  steps.count_origin = kOfItsDocument;
  steps.profile_origin = kOfItsDocument;
  const auto asked = wanted.runner_options.find("steps");
  if (!wanted.load_checkpoint_path.empty()) {
    steps.count = 1;
    steps.count_origin = "one step after a checkpoint is loaded";
    steps.profile_origin = "the last of the job's steps";
  }
  if (asked != wanted.runner_options.end()) {
    steps.count = asked->second;
    steps.count_origin = kAskedFor;
    steps.profile_origin = "the last of the job's steps";
  }
  steps.profile_stop = wanted.profile_stop_step.value_or(steps.count);
  steps.profile_start =
      wanted.profile_start_step.value_or(std::max<std::int64_t>(0, steps.profile_stop - kProfiled));
  if (wanted.profile_stop_step && *wanted.profile_stop_step != steps.count) {
    steps.profile_origin = "five steps before it stops";
  }
  return steps;
}

}  // namespace

std::vector<PlannedValue> values_of(const Plan& plan, const ClusterSettings& settings,
                                    const Origins& origins) {
  const Submission& wanted = plan.submission;
  std::vector<PlannedValue> values;
  const auto add = [&](const char* name, std::string value) {
    if (value.empty()) return;
    const auto origin = origins.find(name);
    values.push_back({name, std::move(value),
                      origin == origins.end() ? std::string(kAskedFor) : origin->second});
  };
  const auto step = [](const std::optional<std::int64_t>& value) {
    return value ? fmt::to_string(*value) : std::string();
  };
  const auto add_planned = [&](const char* name, bool is_given, std::int64_t value,
                               std::string_view origin) {
    if (is_given) {
      add(name, fmt::to_string(value));
    } else {
      values.push_back({name, fmt::to_string(value), std::string(origin)});
    }
  };
  add("workload", wanted.workload);
  add("model_size", wanted.model_size);
  add("dtype", wanted.dtype);
  add("scale", fmt::to_string(wanted.scale));
  add("gpu_type", wanted.gpu_type);
  add("gpus_per_node", step(wanted.gpus_per_node));
  add("launcher", wanted.launcher == "runner" ? "" : wanted.launcher);
  add("backend", wanted.launcher == "runner" ? wanted.backend : "");
  add("profile", wanted.profile ? "true" : "");
  if (wanted.profile) {
    const PlannedSteps steps = planned_steps(wanted);
    values.push_back({"steps", fmt::to_string(steps.count), std::string(steps.count_origin)});
    add_planned("profile_start_step", wanted.profile_start_step.has_value(), steps.profile_start,
                steps.profile_origin);
    add_planned("profile_stop_step", wanted.profile_stop_step.has_value(), steps.profile_stop,
                steps.profile_origin);
  } else {
    add("profile_start_step", step(wanted.profile_start_step));
    add("profile_stop_step", step(wanted.profile_stop_step));
  }
  add("profile_ranks", wanted.profile_ranks);
  add("gpu_metrics", wanted.gpu_metrics ? "true" : "");
  add("nccl_trace", wanted.nccl_trace ? "true" : "");
  add("checkpoint", wanted.checkpoint ? "true" : "");
  add("load_checkpoint_path", wanted.load_checkpoint_path);
  add("container_image", wanted.container_image);
  add("container_mounts", container_mounts(wanted, settings));
  add("proxy", wanted.proxy ? "true" : "");
  if (!plan.document.empty()) {
    values.push_back({"document", plan.document, "the row that the values above match"});
  }
  if (plan.cuda_graphs) {
    values.push_back({"cuda_graphs", *plan.cuda_graphs ? "true" : "false", "the document"});
  }
  for (const auto& [name, value] : plan.slurm) {
    const auto configured = settings.slurm.find(name);
    std::string_view origin = kAskedFor;
    if (!wanted.slurm.contains(name)) {
      origin = configured == settings.slurm.end() ? "llmb-report's default"
                                                  : "the cluster's configuration or the shell";
    }
    values.push_back({"slurm " + name, value.empty() ? "true" : value, std::string(origin)});
  }
  return values;
}

std::vector<std::string> notes_of(const Plan& plan, const ClusterSettings& settings) {
  const Submission& wanted = plan.submission;
  std::vector<std::string> notes = checkpoint_notes(wanted, settings);
  for (std::string& text : container_notes(wanted, settings)) notes.push_back(std::move(text));
  const auto note = [&](bool is_so, std::string_view what, std::string_view why) {
    if (is_so) notes.push_back(fmt::format("{} has no effect: {}", what, why));
  };
  const bool is_runner = wanted.launcher == "runner";
  note(!wanted.profile &&
           (wanted.profile_start_step || wanted.profile_stop_step || !wanted.profile_ranks.empty()),
       "which steps and ranks to profile", "the job is not profiled (ENABLE_PROFILE, --profile)");
  note(!wanted.profile && wanted.gpu_metrics, "ENABLE_GPU_METRICS",
       "the job is not profiled (ENABLE_PROFILE, --profile)");
  note(is_runner && wanted.profile && wanted.backend == "cpu", "Nsight Systems",
       "the backend 'cpu' has no GPU to profile; the steps are marked in the log only");
  note(is_runner && settings.launch_environment.contains("HF_TOKEN"), "HF_TOKEN",
       "the launcher 'runner' loads no tokenizer");
  note(is_runner && wanted.environment.contains("MAX_STEPS"), "MAX_STEPS",
       "the launcher 'runner' takes the number of steps from --set steps=N");
  // What a document says nothing of, its launch.sh may not hear.
  note(!is_runner && wanted.nccl_trace && wanted.workload == "pretrain_llama3.1",
       "ENABLE_NCCLTRACE", "the recipe of Llama 3.1 has no NCCL trace any more");
  const bool has_checkpoint = wanted.checkpoint || !wanted.load_checkpoint_path.empty();
  if (!is_runner && has_checkpoint && wanted.workload != "pretrain_nemotron4") {
    notes.push_back(fmt::format(
        "the document of {} says nothing of checkpoints: its launch.sh may not hear {}",
        wanted.workload, wanted.checkpoint ? "ENABLE_CHECKPOINT" : "LOAD_CHECKPOINT_PATH"));
  }
  return notes;
}

}  // namespace llmb::dispatch
