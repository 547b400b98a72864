#include "server/report/comparison_json.h"

#include <cmath>

#include "server/report/catalog_json.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

using parser::ComparedMetric;

Json mean_of(const std::optional<parser::WindowStatistics>& statistics) {
  return statistics ? number(statistics->mean) : Json(nullptr);
}

// Against the published result, over the window that it was published for.
Json published_json(const parser::Judgement& published) {
  const parser::RunMetrics& metrics = published.metrics;
  Json json;
  json["window"] = parser::to_string(published.summary.window);
  json["window_source"] = published.window_source;
  json["step_time_s_mean"] = mean_of(published.summary.step_time_s);
  json["reference"] =
      metrics.reference == nullptr ? Json(nullptr) : reference_json(*metrics.reference);
  json["speed_against_reference"] = number(metrics.speed_against_reference);
  json["reason"] = null_if_empty(metrics.reference_reason);
  return json;
}

Json run_json(const parser::ComparedRun& run, const parser::RunStanding& standing) {
  const parser::RunSummary& summary = run.judgement.summary;
  Json json;
  json["id"] = run.id;
  json["experiment"] = run.experiment;
  json["job_id"] = nullable(run.job_id);
  json["path"] = run.path;
  json["cluster"] = nullable(run.cluster);
  json["release"] = nullable(run.configuration.value("release"));
  json["status"] = parser::run_status_name(summary.status);
  json["window"] = parser::to_string(summary.window);
  json["window_interruptions"] = null_if_empty(summary.window_interruptions);
  json["steps_left_out"] = summary.steps_left_out;
  json["marks"] = marks_json(standing.marks);
  json["exclusion"] = null_if_empty(standing.exclusion);
  json["group"] = nullable(standing.group);
  json["step_time_s_mean"] = mean_of(summary.step_time_s);
  json["tokens_per_s_per_gpu"] = number(run.judgement.metrics.derived.tokens_per_s_per_gpu.value);
  json["tflops_per_gpu_mean"] = mean_of(summary.tflops_per_gpu);
  json["published"] = published_json(run.published);
  return json;
}

Json group_json(const std::vector<parser::ComparedRun>& runs, std::size_t number_of_group,
                const parser::ComparedGroup& group) {
  Json json;
  json["group"] = number_of_group;
  json["name"] = null_if_empty(group.name);
  json["experiment"] = runs[group.runs.front()].experiment;
  json["run_ids"] = Json::array();
  for (const std::size_t index : group.runs) json["run_ids"].push_back(runs[index].id);
  for (const parser::GroupMetric& metric : group.metrics) {
    Json estimate = mean_estimate_json(metric.estimate);
    estimate["reason"] = null_if_empty(metric.reason);
    json["metrics"][std::string(parser::compared_metric_name(metric.metric))] = std::move(estimate);
  }
  json["speed_against_reference"] =
      group.speed_against_reference ? mean_estimate_json(group.speed_against_reference) : Json();
  json["published_standing"] = published_standing_json(group.published_standing);
  json["published_reason"] = null_if_empty(group.published_reason);
  return json;
}

Json noise_json(const parser::RunNoise& noise) {
  const parser::KnownVariance known = known_variance(noise, 0, 0);
  return {{"source", noise.source},
          {"stddev", number(known.stddev)},
          {"degrees_of_freedom", number(known.degrees_of_freedom)},
          {"configuration_count", noise.group_count},
          {"run_count", noise.run_count},
          {"repeat_count", noise.repeat_count}};
}

Json drift_json(const std::optional<parser::StartDrift>& drift) {
  if (!drift) return nullptr;
  return {{"change_per_run", number(drift->change_per_run)},
          {"p_value", number(drift->p_value)},
          {"sides_are_separate", drift->is_separate}};
}

Json side_drift_json(const std::optional<parser::SideDrift>& drift) {
  if (!drift) return nullptr;
  return {{"change_per_run", number(drift->change_per_run)},
          {"change", number(drift->change)},
          {"p_value", number(drift->p_value)}};
}

Json slow_steps_json(const parser::SlowSteps& steps) {
  return {{"count_min", steps.count_min}, {"step_count", steps.step_count}};
}

// Every key of a test, null where there is none.
Json untested_json() {
  Json json;
  for (const char* const key : {"ratio",
                                "ratio_low",
                                "ratio_high",
                                "mean_ratio",
                                "means_differ",
                                "slow_steps",
                                "baseline_slow_steps",
                                "difference",
                                "relative_difference",
                                "low",
                                "high",
                                "method",
                                "stddev",
                                "t",
                                "degrees_of_freedom",
                                "p_value",
                                "p_value_adjusted",
                                "noise",
                                "equivalence",
                                "smallest_visible_difference",
                                "more_runs_to_decide",
                                "start_drift",
                                "side_drifts"}) {
    json[key] = nullptr;
  }
  return json;
}

// In the metric's unit, from the mean that is shown for the baseline.
Json test_json(const parser::MetricComparison& comparison, double baseline_mean) {
  Json json;
  json["verdict"] = parser::comparison_verdict_name(comparison.verdict);
  json["text"] = comparison.text;
  json.update(untested_json());
  if (!comparison.test) return json;
  const parser::MetricTest& result = *comparison.test;
  const double ratio = std::exp(result.test.log_ratio);
  json["ratio"] = number(ratio);
  json["ratio_low"] = number(result.interval.low);
  json["ratio_high"] = number(result.interval.high);
  json["mean_ratio"] = number(result.mean_ratio);
  json["means_differ"] = result.means_differ;
  json["slow_steps"] = slow_steps_json(result.other_slow_steps);
  json["baseline_slow_steps"] = slow_steps_json(result.baseline_slow_steps);
  json["difference"] = number(baseline_mean * (ratio - 1));
  json["relative_difference"] = number(ratio - 1);
  json["low"] = number(baseline_mean * (result.interval.low - 1));
  json["high"] = number(baseline_mean * (result.interval.high - 1));
  json["method"] = "moderated_t";
  json["stddev"] = number(result.test.stddev);
  json["t"] = number(result.test.t);
  json["degrees_of_freedom"] = number(result.test.degrees_of_freedom);
  json["p_value"] = number(result.test.p_value);
  json["p_value_adjusted"] = number(result.p_value_adjusted);
  json["noise"] = noise_json(result.noise);
  json["equivalence"] = {{"margin", parser::kEquivalenceMargin},
                         {"is_equivalent", result.is_equivalent},
                         {"p_value", number(result.equivalence_p_value)}};
  json["smallest_visible_difference"] = number(result.smallest_visible_difference);
  json["more_runs_to_decide"] = nullable(result.more_runs);
  json["start_drift"] = drift_json(result.drift);
  json["side_drifts"] = {{"baseline", side_drift_json(result.side_drifts[0])},
                         {"other", side_drift_json(result.side_drifts[1])}};
  return json;
}

Json group_comparison_json(const parser::GroupComparison& comparison,
                           const parser::ComparedGroup& baseline) {
  Json json;
  json["group"] = comparison.group;
  json["baseline"] = 0;
  json["obstacles"] = Json::array();
  for (const parser::Obstacle& obstacle : comparison.obstacles) {
    Json metrics = Json::array();
    for (const ComparedMetric metric : obstacle.metrics) {
      metrics.push_back(parser::compared_metric_name(metric));
    }
    json["obstacles"].push_back(
        {{"code", obstacle.code}, {"text", obstacle.text}, {"metrics", std::move(metrics)}});
  }
  json["assumptions"] = comparison.assumptions;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    const parser::MetricComparison& metric = comparison.metrics[i];
    const auto& estimate = baseline.metrics[i].estimate;
    json["metrics"][std::string(parser::compared_metric_name(metric.metric))] =
        test_json(metric, estimate ? estimate->mean : 0);
  }
  return json;
}

}  // namespace

Json mean_estimate_json(const std::optional<parser::MeanEstimate>& estimate) {
  Json json;
  json["run_count"] = estimate ? estimate->run_count : 0;
  json["mean"] = estimate ? number(estimate->mean) : Json(nullptr);
  json["stddev_sample"] = estimate ? number(estimate->stddev_sample) : Json(nullptr);
  json["low"] = estimate ? number(estimate->low) : Json(nullptr);
  json["high"] = estimate ? number(estimate->high) : Json(nullptr);
  return json;
}

Json published_standing_json(const std::optional<parser::PublishedStanding>& standing) {
  if (!standing) return nullptr;
  return {{"verdict", parser::standing_verdict_name(standing->verdict)},
          {"speed", number(standing->speed)},
          {"speed_low", number(standing->low)},
          {"speed_high", number(standing->high)},
          {"line", number(standing->line)},
          {"confidence", parser::kConfidence},
          {"noise", noise_json(standing->noise)}};
}

Json marks_json(const std::vector<parser::RunMarkReason>& marks) {
  Json list = Json::array();
  for (const parser::RunMarkReason& mark : marks) {
    list.push_back({{"mark", parser::run_mark_name(mark.mark)}, {"reason", mark.reason}});
  }
  return list;
}

Json comparison_json(const std::vector<parser::ComparedRun>& runs,
                     const parser::RunComparison& comparison) {
  Json json;
  json["method"] = parser::kComparisonMethod;
  json["confidence"] = parser::kConfidence;
  json["runs"] = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    json["runs"].push_back(run_json(runs[i], comparison.runs[i]));
  }
  json["groups"] = Json::array();
  for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
    json["groups"].push_back(group_json(runs, i, comparison.groups[i]));
  }
  json["differences"] = Json::array();
  for (const parser::ConfigurationDifference& difference : comparison.differences) {
    Json values = Json::array();
    for (const auto& value : difference.values) values.push_back(nullable(value));
    json["differences"].push_back({{"key", difference.key}, {"values", std::move(values)}});
  }
  json["comparisons"] = Json::array();
  for (const parser::GroupComparison& group : comparison.comparisons) {
    json["comparisons"].push_back(group_comparison_json(group, comparison.groups.front()));
  }
  json["missing_sides"] = Json::array();
  for (const parser::MissingSide& side : comparison.missing_sides) {
    Json ids = Json::array();
    for (const std::size_t index : side.runs) ids.push_back(runs[index].id);
    json["missing_sides"].push_back({{"name", null_if_empty(side.name)},
                                     {"is_baseline", side.side == 0},
                                     {"run_ids", std::move(ids)},
                                     {"reason", side.reason}});
  }
  return json;
}

}  // namespace llmb::report
