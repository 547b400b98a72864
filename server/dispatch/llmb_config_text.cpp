// llmb-config_<JOBID>.yaml as the recipes' launcher writes it: block style, its order of sections.
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "parser/catalog/recipe.h"
#include "parser/catalog/recipe_match.h"
#include "server/dispatch/batch_script.h"
#include "server/dispatch/runner_option_table.h"

namespace llmb::dispatch {
namespace {

std::string yaml_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

class Sections {
 public:
  void begin(std::string_view name) { text_.append(name).append(":\n"); }
  void add(std::string_view key, std::string_view value) { line(key, yaml_quoted(value)); }
  void add(std::string_view key, std::int64_t value) { line(key, fmt::to_string(value)); }
  void add_flag(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  void add(std::string_view key, const Environment& map) {
    line(key, map.empty() ? "{}" : "");
    for (const auto& [name, value] : map) {
      text_.append("    ").append(name).append(": ").append(yaml_quoted(value)).append("\n");
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view key, const std::string& value) {
    text_.append("  ").append(key).append(value.empty() ? ":" : ": ").append(value).append("\n");
  }
  std::string text_;
};

// Local time without its zone, as Python's isoformat() has it.
std::string local_time(const Launch& launch) {
  const std::time_t local = launch.launched_at_s + launch.utc_offset_s;
  std::tm fields{};
  gmtime_r(&local, &fields);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &fields);
  return fmt::format("{}.{:06}", date.data(), launch.launched_at_us % 1'000'000);
}

std::string setting(const SlurmParameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

// "pretrain_grok1" -> "grok1"; what comes before is the type.
std::string_view model_name(std::string_view workload) {
  return workload.substr(std::min(workload.find('_') + 1, workload.size()));
}

Environment runner_overrides(const Submission& submission) {
  Environment overrides;
  for (const auto& [name, value] : submission.runner_options) {
    overrides[name] = runner_option_text(name, value);
  }
  return overrides;
}

}  // namespace

std::string llmb_config_text(const Plan& plan, const ClusterSettings& settings,
                             const Launch& launch, std::string_view job_id) {
  const Submission& submission = plan.submission;
  Sections sections;
  sections.begin("job_info");
  sections.add("job_id", job_id);
  sections.add("launcher_type", "llmb-report");
  sections.add("launch_time", local_time(launch));
  sections.begin("workload_info");
  if (submission.launcher == "runner") {
    sections.add("framework", parser::kStepRunnerFramework);
  }
  sections.add("workload_type", submission.workload.substr(0, submission.workload.find('_')));
  sections.add_flag("synthetic_dataset", true);
  sections.begin("model_info");
  sections.add("model_name", model_name(submission.workload));
  sections.add("model_size", submission.model_size);
  sections.add("dtype", parser::coarse_dtype(submission.dtype));
  sections.add("scale", submission.scale);
  sections.add("gpu_type", submission.gpu_type);
  sections.begin("cluster_info");
  sections.add("cluster_name", plan.cluster);
  sections.add("gpus_per_node", plan.submission.gpus_per_node.value_or(plan.ranks_per_node));
  sections.add("llmb_install", settings.llmb_install);
  sections.add("llmb_repo", settings.llmb_repo);
  sections.add("slurm_account", setting(plan.slurm, "account"));
  sections.add("slurm_gpu_partition", setting(plan.slurm, "partition"));
  sections.begin("job_config");
  sections.add_flag("profile_enabled", submission.profile);
  sections.add_flag("proxy", submission.proxy || plan.row_is_proxy);
  sections.add_flag("strong_scaling", false);
  if (plan.cuda_graphs) sections.add_flag("cuda_graphs", *plan.cuda_graphs);
  sections.add("env_overrides", submission.environment);
  sections.add("model_overrides", runner_overrides(submission));
  return sections.take();
}

}  // namespace llmb::dispatch
