#include "server/report/comparison_json.h"

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
  json["status"] = parser::run_status_name(summary.status);
  json["window"] = parser::to_string(summary.window);
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
  return json;
}

Json test_json(const parser::MetricComparison& comparison) {
  const auto& test = comparison.test;
  const auto pick = [&](auto field) { return test ? number((*test).*field) : Json(nullptr); };
  Json json;
  json["verdict"] = parser::comparison_verdict_name(comparison.verdict);
  json["text"] = comparison.text;
  json["difference"] = pick(&parser::MeanTest::difference);
  json["relative_difference"] = pick(&parser::MeanTest::relative_difference);
  json["low"] = pick(&parser::MeanTest::low);
  json["high"] = pick(&parser::MeanTest::high);
  json["method"] = test ? Json(parser::mean_test_method_name(test->method)) : Json(nullptr);
  json["t"] = pick(&parser::MeanTest::t);
  json["degrees_of_freedom"] = pick(&parser::MeanTest::degrees_of_freedom);
  json["p_value"] = pick(&parser::MeanTest::p_value);
  json["p_value_adjusted"] = number(comparison.p_value_adjusted);
  return json;
}

Json group_comparison_json(const parser::GroupComparison& comparison) {
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
  for (const parser::MetricComparison& metric : comparison.metrics) {
    json["metrics"][std::string(parser::compared_metric_name(metric.metric))] = test_json(metric);
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
    json["comparisons"].push_back(group_comparison_json(group));
  }
  return json;
}

}  // namespace llmb::report
