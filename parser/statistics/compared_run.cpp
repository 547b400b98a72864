#include "parser/statistics/compared_run.h"

#include <algorithm>
#include <cmath>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

// What tells one launch from another, or says the same twice, and makes no difference to speed.
constexpr std::array<std::string_view, 10> kLaunchKeys = {
    "slurm_account", "experiment_id", "job_id",          "launch_time",        "llmb_install",
    "llmb_repo",     "proxy",         "profile_enabled", "nccl_trace_enabled", "document"};

constexpr auto kMetrics = name_table<ComparedMetric>({
    {ComparedMetric::tflops_per_gpu, "tflops_per_gpu"},
    {ComparedMetric::step_time_s, "step_time_s"},
    {ComparedMetric::tokens_per_s_per_gpu, "tokens_per_s_per_gpu"},
});

std::optional<double> logarithm(double value) {
  return value > 0 ? std::optional(std::log(value)) : std::nullopt;
}

}  // namespace

std::string_view compared_metric_name(ComparedMetric metric) {
  return kMetrics.name(metric);
}

void name_cluster(ComparedRun& run, const TreeClusters& trees) {
  const std::string name = trees.of(run.tree, run.cluster);
  if (name.empty()) return;
  run.cluster = name;
  run.configuration.fill_in("cluster", name, ConfigSource::path);
}

void name_clusters(std::vector<ComparedRun>& runs, const TreeClusters& trees) {
  for (ComparedRun& run : runs) name_cluster(run, trees);
}

RunIdentity identity_of(const ComparedRun& run) {
  return identity_of(run.judgement.match, run.configuration);
}

std::vector<std::size_t> stated_counts_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::size_t> counts;
  counts.reserve(runs.size());
  for (const ComparedRun& run : runs) counts.push_back(stated_count(identity_of(run)));
  return counts;
}

std::vector<std::size_t> originals_of(const std::vector<ComparedRun>& runs) {
  RunCopies copies;
  std::vector<std::size_t> originals(runs.size());
  for (const std::size_t i : counting_order(stated_counts_of(runs))) {
    originals[i] = copies.count(runs[i].content_key, i).value_or(i);
  }
  return originals;
}

RunStart start_of(const ComparedRun& run) {
  return {run.launched_at, run.job_id, run.cluster};
}

std::vector<RunMarkReason> marks_of(const ComparedRun& run) {
  return marks_over(run, run.judgement);
}

std::vector<RunMarkReason> marks_over(const ComparedRun& run, const Judgement& judgement) {
  return marks_of({judgement.summary, run.configuration, run.has_profiles, run.nccl_trace_seen,
                   judgement.match.is_proxy(), run.is_superseded, &judgement.metrics.derived});
}

std::optional<double> mean_of(const ComparedRun& run, ComparedMetric metric) {
  const RunSummary& summary = run.judgement.summary;
  switch (metric) {
    case ComparedMetric::step_time_s:
      return summary.step_time_s ? std::optional(summary.step_time_s->mean) : std::nullopt;
    case ComparedMetric::tflops_per_gpu:
      return summary.tflops_per_gpu ? std::optional(summary.tflops_per_gpu->mean) : std::nullopt;
    case ComparedMetric::tokens_per_s_per_gpu:
      break;
  }
  return run.judgement.metrics.derived.tokens_per_s_per_gpu.value;
}

std::optional<double> log_location_of(const ComparedRun& run, ComparedMetric metric) {
  const RunSummary& summary = run.judgement.summary;
  const auto mean = mean_of(run, metric);
  if (!mean) return std::nullopt;
  switch (metric) {
    case ComparedMetric::step_time_s:
      return logarithm(summary.step_time_s->median);
    case ComparedMetric::tflops_per_gpu:
      return logarithm(summary.tflops_per_gpu->median);
    case ComparedMetric::tokens_per_s_per_gpu:
      break;
  }
  // The tokens of a step are the same in every step: their rate is as the step time is.
  if (!summary.step_time_s) return logarithm(*mean);
  return logarithm(*mean * summary.step_time_s->mean / summary.step_time_s->median);
}

Characteristics characteristics_of(const ComparedRun& run,
                                   const std::vector<RunMarkReason>& marks) {
  Characteristics result;
  for (const auto& [key, values] : run.configuration.all()) {
    if (std::count(kLaunchKeys.begin(), kLaunchKeys.end(), key) > 0) continue;
    if (key == "model_recipe_name") continue;  // the model as the name spells it
    result[key] = run.configuration.value(key).value_or("");
  }
  if (run.cluster) result["cluster"] = *run.cluster;
  if (run.judgement.match.global_batch_size) {
    result["global_batch_size"] = std::to_string(*run.judgement.match.global_batch_size);
  }
  result["dialect"] = dialect_name(run.dialect);
  result["window"] = to_string(run.judgement.summary.window);
  for (const RunMarkReason& mark : marks) {
    if (mark.mark == RunMark::superseded) continue;  // of a log's place, not of what it holds
    std::string& text = result["marks"];
    text += (text.empty() ? "" : ",") + std::string(run_mark_name(mark.mark));
  }
  return result;
}

}  // namespace llmb::parser
