#include "parser/statistics/run_comparison.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

// What tells one launch from another, or says the same twice, and makes no difference to speed.
constexpr std::array<std::string_view, 9> kLaunchKeys = {
    "slurm_account", "experiment_id", "job_id",          "launch_time",       "llmb_install",
    "llmb_repo",     "proxy",         "profile_enabled", "nccl_trace_enabled"};

std::optional<double> value_of(const ComparedRun& run, ComparedMetric metric) {
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

std::string missing_reason(const ComparedRun& run, ComparedMetric metric) {
  if (metric == ComparedMetric::tokens_per_s_per_gpu) {
    return run.judgement.metrics.derived.tokens_per_s_per_gpu.reason;
  }
  return "The log prints none in the window " + to_string(run.judgement.summary.window) + ".";
}

std::vector<double> values_of(const std::vector<ComparedRun>& runs, const ComparedGroup& group,
                              ComparedMetric metric) {
  std::vector<double> values;
  for (const std::size_t index : group.runs) {
    if (const auto value = value_of(runs[index], metric)) values.push_back(*value);
  }
  return values;
}

void measure_group(const std::vector<ComparedRun>& runs, ComparedGroup& group) {
  for (const ComparedMetric metric : kComparedMetrics) {
    GroupMetric result;
    result.metric = metric;
    result.estimate = estimate_mean(values_of(runs, group, metric));
    if (!result.estimate) {
      result.reason = missing_reason(runs[group.runs.front()], metric);
    } else if (result.estimate->run_count < 2) {
      result.reason = "One run shows no run-to-run deviation: there is no interval.";
    }
    group.metrics.push_back(std::move(result));
  }
  std::vector<double> speeds;
  for (const std::size_t index : group.runs) {
    const auto& speed = runs[index].published.metrics.speed_against_reference;
    if (speed) speeds.push_back(*speed);
  }
  group.speed_against_reference = estimate_mean(speeds);
}

std::string percent(double share) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), 100 * share,
                                 std::chars_format::fixed, 2)
                       .ptr;
  return std::string(text.data(), end) + " %";
}

std::string signed_percent(double share) {
  return (share >= 0 ? "+" : "") + percent(share);
}

std::string p_text(double p) {
  if (p < 1e-4) return "p < 0.0001";
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), p, std::chars_format::general, 2).ptr;
  return "p = " + std::string(text.data(), end);
}

std::string method_text(const MeanTest& test, std::size_t baseline_runs, std::size_t other_runs) {
  const std::string counts =
      " on " + std::to_string(baseline_runs) + " and " + std::to_string(other_runs) + " run means";
  if (test.method == MeanTestMethod::welch) return "Welch's test" + counts;
  return "a single run against the deviation of the others,";
}

bool is_faster(ComparedMetric metric, double difference) {
  return (metric == ComparedMetric::step_time_s) == (difference < 0);
}

// The verdict of a test that was made, with its numbers.
void conclude(MetricComparison& comparison, double baseline_mean, std::size_t baseline_runs,
              std::size_t other_runs) {
  const MeanTest& test = *comparison.test;
  const std::string amount = signed_percent(test.relative_difference);
  if (!test.p_value) {
    comparison.verdict = ComparisonVerdict::cannot_be_told;
    comparison.text = amount + ": " + test.reason + ".";
    return;
  }
  const double p = *comparison.p_value_adjusted;
  const std::string evidence = " (95 % interval " + signed_percent(*test.low / baseline_mean) +
                               " to " + signed_percent(*test.high / baseline_mean) + "; " +
                               method_text(test, baseline_runs, other_runs) + " " + p_text(p) +
                               ").";
  if (p >= 1 - kConfidence) {
    comparison.verdict = ComparisonVerdict::no_difference_shown;
    comparison.text = amount + ": cannot be told from run-to-run noise" + evidence;
    return;
  }
  const bool faster = is_faster(comparison.metric, test.difference);
  comparison.verdict = faster ? ComparisonVerdict::faster : ComparisonVerdict::slower;
  comparison.text = amount + ": " + (faster ? "faster" : "slower") + evidence;
}

const Obstacle* obstacle_of(const std::vector<Obstacle>& obstacles, ComparedMetric metric) {
  for (const Obstacle& obstacle : obstacles) {
    if (std::count(obstacle.metrics.begin(), obstacle.metrics.end(), metric) > 0) return &obstacle;
  }
  return nullptr;
}

MetricComparison test_metric(const std::vector<ComparedRun>& runs, const ComparedGroup& baseline,
                             const ComparedGroup& other, ComparedMetric metric,
                             const std::vector<Obstacle>& obstacles) {
  MetricComparison comparison;
  comparison.metric = metric;
  if (const Obstacle* const obstacle = obstacle_of(obstacles, metric)) {
    comparison.verdict = ComparisonVerdict::not_comparable;
    comparison.text = obstacle->text;
    return comparison;
  }
  const auto baseline_values = values_of(runs, baseline, metric);
  const auto other_values = values_of(runs, other, metric);
  if (baseline_values.empty() || other_values.empty()) {
    const ComparedGroup& lacking = baseline_values.empty() ? baseline : other;
    comparison.text = missing_reason(runs[lacking.runs.front()], metric);
    return comparison;
  }
  comparison.test = test_means(baseline_values, other_values);
  return comparison;
}

void test_groups(const std::vector<ComparedRun>& runs, RunComparison& result) {
  const ComparedGroup& baseline = result.groups.front();
  for (std::size_t i = 1; i < result.groups.size(); ++i) {
    const ComparedGroup& other = result.groups[i];
    GroupComparison comparison;
    comparison.group = i;
    comparison.obstacles = obstacles_between(runs[baseline.runs.front()], runs[other.runs.front()]);
    for (const ComparedMetric metric : kComparedMetrics) {
      comparison.metrics.push_back(
          test_metric(runs, baseline, other, metric, comparison.obstacles));
    }
    result.comparisons.push_back(std::move(comparison));
  }
  for (std::size_t m = 0; m < kComparedMetrics.size(); ++m) {
    std::vector<std::optional<double>> p_values;
    for (const GroupComparison& comparison : result.comparisons) {
      const auto& test = comparison.metrics[m].test;
      p_values.push_back(test ? test->p_value : std::nullopt);
    }
    const auto adjusted = holm_adjusted(p_values);
    for (std::size_t i = 0; i < adjusted.size(); ++i) {
      MetricComparison& metric = result.comparisons[i].metrics[m];
      if (!metric.test) continue;
      metric.p_value_adjusted = adjusted[i];
      conclude(metric, baseline.metrics[m].estimate->mean, baseline.runs.size(),
               result.groups[i + 1].runs.size());
    }
  }
}

void list_differences(const std::vector<Characteristics>& groups, RunComparison& result) {
  std::map<std::string, ConfigurationDifference> by_key;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto& [key, value] : groups[i]) {
      ConfigurationDifference& difference = by_key[key];
      difference.key = key;
      difference.values.resize(groups.size());
      difference.values[i] = value;
    }
  }
  for (auto& [key, difference] : by_key) {
    const auto& values = difference.values;
    const bool all_equal = std::all_of(values.begin(), values.end(),
                                       [&](const auto& value) { return value == values.front(); });
    if (!all_equal) result.differences.push_back(std::move(difference));
  }
}

constexpr auto kMetrics = name_table<ComparedMetric>({
    {ComparedMetric::tflops_per_gpu, "tflops_per_gpu"},
    {ComparedMetric::step_time_s, "step_time_s"},
    {ComparedMetric::tokens_per_s_per_gpu, "tokens_per_s_per_gpu"},
});

constexpr auto kVerdicts = name_table<ComparisonVerdict>({
    {ComparisonVerdict::cannot_be_told, "cannot_be_told"},
    {ComparisonVerdict::faster, "faster"},
    {ComparisonVerdict::slower, "slower"},
    {ComparisonVerdict::no_difference_shown, "no_difference_shown"},
    {ComparisonVerdict::not_comparable, "not_comparable"},
});

}  // namespace

std::string_view compared_metric_name(ComparedMetric metric) {
  return kMetrics.name(metric);
}

std::string_view comparison_verdict_name(ComparisonVerdict verdict) {
  return kVerdicts.name(verdict);
}

Characteristics characteristics_of(const ComparedRun& run,
                                   const std::vector<RunMarkReason>& marks) {
  Characteristics result;
  for (const auto& [key, values] : run.configuration.all()) {
    if (std::count(kLaunchKeys.begin(), kLaunchKeys.end(), key) > 0) continue;
    if (key == "model_recipe_name") continue;  // the model as the name spells it
    result[key] = run.configuration.value(key).value_or("");
  }
  if (run.judgement.match.global_batch_size) {
    result["global_batch_size"] = std::to_string(*run.judgement.match.global_batch_size);
  }
  result["dialect"] = dialect_name(run.dialect);
  result["window"] = to_string(run.judgement.summary.window);
  for (const RunMarkReason& mark : marks) {
    if (mark.mark > RunMark::proxy) continue;
    std::string& text = result["marks"];
    text += (text.empty() ? "" : ",") + std::string(run_mark_name(mark.mark));
  }
  return result;
}

std::vector<RunMarkReason> marks_of(const ComparedRun& run) {
  return marks_of({run.judgement.summary, run.configuration, run.has_profiles, run.nccl_trace_seen,
                   run.judgement.match.is_proxy(), run.is_superseded});
}

RunComparison compare_runs(const std::vector<ComparedRun>& runs, const RunMarkSet& included) {
  RunComparison result;
  std::vector<Characteristics> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedRun& run = runs[i];
    RunStanding standing;
    standing.marks = marks_of(run);
    standing.exclusion = exclusion_reason(standing.marks, included);
    if (standing.exclusion.empty()) {
      const Characteristics own = characteristics_of(run, standing.marks);
      const auto found = std::find(groups.begin(), groups.end(), own);
      const auto group = static_cast<std::size_t>(found - groups.begin());
      if (found == groups.end()) {
        groups.push_back(own);
        result.groups.emplace_back();
      }
      result.groups[group].runs.push_back(i);
      standing.group = group;
    }
    result.runs.push_back(std::move(standing));
  }
  for (ComparedGroup& group : result.groups) measure_group(runs, group);
  list_differences(groups, result);
  if (!result.groups.empty()) test_groups(runs, result);
  return result;
}

}  // namespace llmb::parser
