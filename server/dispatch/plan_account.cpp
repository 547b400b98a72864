#include "server/dispatch/plan_account.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "parser/foundation/parse_number.h"
#include "server/dispatch/checkpoint_account.h"
#include "server/dispatch/container.h"
#include "server/dispatch/document_words.h"
#include "server/dispatch/launch_script.h"
#include "server/dispatch/profile_window.h"
#include "server/dispatch/runner_option_table.h"

namespace llmb::dispatch {
namespace {

// It is started here where it submits the job itself, else on a node.
std::string launch_script_note(const Plan& plan) {
  const auto seen = see_launch_script(plan.program);
  if (seen) return {};
  return fmt::format(
      "{} cannot be seen from here ({}): {}. 'launch_scripts' in the configuration says where it "
      "is",
      plan.program, seen.error().message,
      plan.submits_itself ? "the job cannot be submitted"
                          : "the job fails where its nodes do not see it either");
}

std::string slurm_origin(const std::string& option, const Submission& wanted,
                         const ClusterSettings& settings) {
  if (wanted.slurm.contains(option)) return std::string(kAskedFor);
  const auto origin = settings.slurm_origins.find(option);
  if (origin != settings.slurm_origins.end()) return origin->second;
  return settings.slurm.contains(option) ? std::string(kOfCluster) : "llmb-report's default";
}

// Of the runner, of Slurm, and variables of the job.
void add_options(std::vector<PlannedValue>& values, const Plan& plan,
                 const ClusterSettings& settings) {
  const Submission& wanted = plan.submission;
  for (const auto& [name, value] : wanted.runner_options) {
    if (name == kCudaGraphsOption || (wanted.profile && name == "steps")) continue;  // above
    values.push_back({"set " + name, runner_option_text(name, value), std::string(kAskedFor)});
  }
  for (const auto& [name, value] : plan.slurm) {
    values.push_back(
        {"slurm " + name, value.empty() ? "true" : value, slurm_origin(name, wanted, settings)});
  }
  for (const auto* const variables : {&wanted.environment, &settings.environment}) {
    const bool is_asked_for = variables == &wanted.environment;
    for (const auto& [name, value] : *variables) {
      if (is_secret_variable(name) || (!is_asked_for && wanted.environment.contains(name)))
        continue;
      values.push_back({"env " + name, value, std::string(is_asked_for ? kAskedFor : kOfCluster)});
    }
  }
}

}  // namespace

std::vector<PlannedValue> values_of(const Plan& plan, const ClusterSettings& settings,
                                    const Origins& origins) {
  const Submission& wanted = plan.submission;
  std::vector<PlannedValue> values;
  const auto add = [&](const char* name, std::string value) {
    if (value.empty()) return;
    values.push_back({name, std::move(value), origin_of(name, origins)});
  };
  const auto step = [](const std::optional<std::int64_t>& value) {
    return value ? fmt::to_string(*value) : std::string();
  };
  add("workload", wanted.workload);
  if (!settings.workload_folder_origin.empty()) {
    values.push_back(
        {"workload_folder", settings.workload_folder, settings.workload_folder_origin});
  }
  add("model_size", wanted.model_size);
  add("dtype", wanted.dtype);
  add("scale", fmt::to_string(wanted.scale));
  add("gpu_type", wanted.gpu_type);
  add("gpus_per_node", step(wanted.gpus_per_node));
  add("launcher", wanted.launcher == "runner" ? "" : wanted.launcher);
  add("backend", wanted.launcher == "runner" ? wanted.backend : "");
  add("profile", wanted.profile ? "true" : "");
  if (wanted.profile) {
    const ProfileWindow window = profile_window(wanted, settings, origins, words_of_plan(plan));
    values.push_back({"steps", fmt::to_string(window.step_count), window.step_count_origin});
    values.push_back(
        {"profile_start_step", fmt::to_string(window.start_step), window.start_step_origin});
    values.push_back(
        {"profile_stop_step", fmt::to_string(window.stop_step), window.stop_step_origin});
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
  if (plan.row_is_proxy && !wanted.proxy) {
    values.push_back({"proxy", "true", "its row has fewer layers than the model"});
  }
  add("proxy", wanted.proxy ? "true" : "");
  if (!plan.document.empty()) {
    values.push_back({"document", plan.document, "the row that the values above match"});
  }
  if (plan.cuda_graphs) {
    const bool is_runner = wanted.launcher == "runner";
    const bool is_set = wanted.runner_options.contains(std::string(kCudaGraphsOption));
    values.push_back({"cuda_graphs", *plan.cuda_graphs ? "true" : "false",
                      std::string(!is_runner ? "the document"
                                  : is_set   ? kAskedFor
                                             : "llmb-step-runner's default")});
  }
  add_options(values, plan, settings);
  return values;
}

std::string proxy_note(const Plan& plan, const parser::Recipe* recipe,
                       const parser::Catalog& catalog) {
  if (!plan.row_is_proxy || plan.submission.proxy) return {};
  const parser::Model* const model =
      catalog.model(catalog.workload(recipe->workload)->family, recipe->model_size);
  return fmt::format(
      "a proxy, with {} of the model's {} layers ({} line {}): its speed is not the model's, no "
      "time to train follows from it, and comparisons leave it out",
      recipe->layer_count, model->shape.layer_count, recipe->document, recipe->line);
}

std::string gpu_type_note(const Submission& wanted, const parser::LaunchDefaults& defaults,
                          const Origins& origins) {
  const auto origin = origins.find("gpu_type");
  if (origin == origins.end() || origin->second != kOnlyGpuAtScale) return {};
  if (defaults.gpu_type.empty() || wanted.gpu_type == defaults.gpu_type) return {};
  return fmt::format(
      "no GPU type was given: {}, as the document's default, {}, has no recipe of {} GPUs "
      "(--gpu-type, GPU_TYPE)",
      wanted.gpu_type, defaults.gpu_type, wanted.scale);
}

std::vector<std::string> notes_of(const Plan& plan, const ClusterSettings& settings) {
  const Submission& wanted = plan.submission;
  std::vector<std::string> notes = checkpoint_notes(wanted, settings);
  for (std::string& text : container_notes(wanted, settings)) notes.push_back(std::move(text));
  if (wanted.launcher == "recipe") {
    std::string text = launch_script_note(plan);
    if (!text.empty()) notes.push_back(std::move(text));
  }
  const auto note = [&](bool is_so, std::string_view what, std::string_view why) {
    if (is_so) notes.push_back(fmt::format("{} has no effect: {}", what, why));
  };
  const bool is_runner = wanted.launcher == "runner";
  // As in the launch.sh of that recipe, which sets it whatever the shell says.
  note(plan.tree.holds_logs && settings.launch_environment.contains("GSW_VERSION"), "GSW_VERSION",
       "the recipe's own launch.sh sets it, and its runs lie in " + plan.tree.folder);
  note(!wanted.profile &&
           (wanted.profile_start_step || wanted.profile_stop_step || !wanted.profile_ranks.empty()),
       "which steps and ranks to profile", "the job is not profiled (ENABLE_PROFILE, --profile)");
  note(!wanted.profile && wanted.gpu_metrics, "ENABLE_GPU_METRICS",
       "the job is not profiled (ENABLE_PROFILE, --profile)");
  note(is_runner && wanted.profile && wanted.backend == "cpu", "Nsight Systems",
       "the backend 'cpu' has no GPU to profile; the steps are marked in the log only");
  note(is_runner && settings.launch_environment.contains("HF_TOKEN"), "HF_TOKEN",
       "the launcher 'runner' loads no tokenizer");
  const bool is_of_shell = settings.launch_environment.contains("MAX_STEPS");
  note(is_runner && (is_of_shell || wanted.environment.contains("MAX_STEPS")), "MAX_STEPS",
       "the launcher 'runner' takes the number of steps from --set steps=N");
  note(!is_runner && is_of_shell, "MAX_STEPS of the shell", "a job gets it by --env only");
  const auto of_slurm = plan.slurm.find("gpus-per-node");
  const auto asked_of_node =
      of_slurm == plan.slurm.end() ? std::nullopt : parser::parse_integer(of_slurm->second, 1);
  if (asked_of_node && wanted.gpus_per_node && *asked_of_node > *wanted.gpus_per_node) {
    notes.push_back(
        fmt::format("Slurm is asked for {} GPUs of each node, and the job uses {} of them: "
                    "GPUS_PER_NODE (--gpus-per-node) says how many nodes have",
                    *asked_of_node, plan.ranks_per_node));
  }
  for (std::string& text : unspoken_notes(plan, settings)) notes.push_back(std::move(text));
  if (!settings.knows_shell) return notes;
  notes.insert(notes.end(), settings.set_aside_notes.begin(), settings.set_aside_notes.end());
  const auto of_slurm_options =
      set_aside_options(settings.slurm, settings.slurm_origins, wanted.slurm, kAskedFor);
  notes.insert(notes.end(), of_slurm_options.begin(), of_slurm_options.end());
  return notes;
}

}  // namespace llmb::dispatch
