#include "server/report/scaling_json.h"

#include "server/report/catalog_json.h"
#include "server/report/comparison_json.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

Json identity_json(const parser::ComparedRun& run) {
  return {{"id", run.id},
          {"experiment", run.experiment},
          {"job_id", nullable(run.job_id)},
          {"path", run.path},
          {"window", parser::to_string(run.judgement.summary.window)}};
}

Json differences_json(const std::vector<parser::DifferingValue>& differences) {
  Json list = Json::array();
  for (const parser::DifferingValue& difference : differences) {
    list.push_back({{"key", difference.key}, {"value", nullable(difference.value)}});
  }
  return list;
}

Json point_json(const std::vector<parser::ComparedRun>& runs, const parser::ScalingPoint& point) {
  Json json;
  json["gpu_count"] = point.gpu_count;
  json["global_batch_size"] = nullable(point.global_batch_size);
  json["scaling"] = parser::scaling_kind_name(point.kind);
  json["differences"] = differences_json(point.differences);
  json["tokens_per_s_per_gpu"] = mean_estimate_json(point.tokens_per_s_per_gpu);
  json["efficiency"] = number(point.efficiency);
  json["efficiency_reason"] = null_if_empty(point.efficiency_reason);
  json["speed_against_reference"] =
      point.speed_against_reference ? mean_estimate_json(point.speed_against_reference) : Json();
  json["published_standing"] = published_standing_json(point.published_standing);
  json["runs"] = Json::array();
  for (const std::size_t index : point.runs) {
    Json run = identity_json(runs[index]);
    run["tokens_per_s_per_gpu"] =
        number(runs[index].judgement.metrics.derived.tokens_per_s_per_gpu.value);
    json["runs"].push_back(std::move(run));
  }
  return json;
}

Json published_json(const parser::PublishedPoint& point) {
  return {{"gpu_count", point.reference->gpu_count},
          {"global_batch_size", point.global_batch_size},
          {"scaling", parser::scaling_kind_name(point.kind)},
          {"tokens_per_s_per_gpu", number(point.tokens_per_s_per_gpu)},
          {"efficiency", number(point.efficiency)},
          {"reference", reference_json(*point.reference)}};
}

Json left_out_json(const std::vector<parser::ComparedRun>& runs,
                   const std::vector<parser::LeftOutRun>& left_out) {
  Json list = Json::array();
  for (const parser::LeftOutRun& entry : left_out) {
    Json run = identity_json(runs[entry.run]);
    run["gpu_count"] = nullable(runs[entry.run].judgement.match.gpu_count);
    run["marks"] = marks_json(entry.marks);
    run["reason"] = entry.reason;
    list.push_back(std::move(run));
  }
  return list;
}

Json series_json(const std::vector<parser::ComparedRun>& runs,
                 const parser::ScalingSeries& series) {
  Json json;
  json["workload"] = series.workload;
  json["model_size"] = series.model_size;
  json["dtype"] = series.dtype;
  json["gpu_type"] = series.gpu_type;
  json["differences"] = differences_json(series.differences);
  json["scaling"] = parser::scaling_kind_name(series.kind);
  json["points"] = Json::array();
  for (const auto& point : series.points) json["points"].push_back(point_json(runs, point));
  json["left_out"] = left_out_json(runs, series.left_out);
  json["document"] = series.document == nullptr ? Json(nullptr) : Json(series.document->id);
  json["published"] = Json::array();
  for (const auto& point : series.published) json["published"].push_back(published_json(point));
  return json;
}

}  // namespace

Json scaling_json(const std::vector<parser::ComparedRun>& runs,
                  const parser::ScalingReport& report) {
  Json json;
  json["method"] = parser::kScalingMethod;
  json["confidence"] = parser::kConfidence;
  json["series"] = Json::array();
  for (const auto& series : report.series) json["series"].push_back(series_json(runs, series));
  json["unplaced"] = left_out_json(runs, report.unplaced);
  return json;
}

}  // namespace llmb::report
