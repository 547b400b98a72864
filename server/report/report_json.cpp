#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "parser/step_fields.h"
#include "server/report/catalog_json.h"
#include "server/report/evidence_json.h"
#include "server/report/report.h"

namespace llmb::report {
namespace {

using Json = nlohmann::ordered_json;

// File names and log lines may hold bytes that are no UTF-8: those become U+FFFD.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json statistics_json(const std::optional<parser::WindowStatistics>& statistics) {
  if (!statistics) return nullptr;
  return {{"count", statistics->count},
          {"mean", statistics->mean},
          {"stddev_population", statistics->stddev_population},
          {"stddev_sample", statistics->stddev_sample},
          {"median", statistics->median},
          {"min", statistics->min},
          {"max", statistics->max},
          {"p95", statistics->p95}};
}

Json configuration_json(const parser::RunConfiguration& configuration) {
  Json list = Json::array();
  for (const auto& [key, values] : configuration.all()) {
    Json alternatives = Json::array();
    for (std::size_t i = 1; i < values.size(); ++i) {
      alternatives.push_back(
          {{"value", values[i].value}, {"source", config_source_name(values[i].source)}});
    }
    list.push_back({{"key", key},
                    {"value", values.front().value},
                    {"source", config_source_name(values.front().source)},
                    {"alternatives", std::move(alternatives)}});
  }
  return list;
}

Json segments_json(const parser::LogFacts& facts) {
  Json list = Json::array();
  for (const parser::SegmentFacts& segment : facts.segments) {
    list.push_back({{"segment", segment.segment},
                    {"first_iteration", segment.first_iteration},
                    {"last_iteration", segment.last_iteration},
                    {"step_count", segment.step_count},
                    {"nan_step_count", segment.nan_step_count}});
  }
  return list;
}

Json events_json(const parser::LogFacts& facts) {
  Json list = Json::array();
  for (const parser::LogEvent& event : facts.events) {
    const bool is_failure = event.kind == parser::LogEvent::Kind::failure;
    list.push_back(
        {{"kind", is_failure ? "failure" : "finish_marker"},
         {"cause", event.cause},
         {"line", event.line},
         {"offset", event.offset},
         {"steps_before", event.steps_before},
         {"rank", or_null(event.rank)},
         {"operation", event.operation.empty() ? Json(nullptr) : Json(event.operation)}});
  }
  return list;
}

void set(Json& json, std::string_view key, const std::string& value) {
  if (!value.empty()) json[std::string(key)] = value;
}
template <typename Value>
void set(Json& json, std::string_view key, const Value& value) {
  json[std::string(key)] = value;
}
template <typename Value>
void set(Json& json, std::string_view key, const std::optional<Value>& value) {
  if (value) json[std::string(key)] = *value;
}

// Fields that the line did not have are left out; NaN is null.
Json sample_json(const parser::StepSample& sample) {
  Json json = Json::object();
  parser::for_each_step_field(
      [&](const auto& field) { set(json, field.name, sample.*field.member); });
  if (sample.iteration_is_logged) json.erase("iteration_is_logged");
  if (!sample.step_time_s) json.erase("step_time_resolution_s");
  for (const auto& [name, value] : sample.extra_fields) json["extra_fields"][name] = value;
  return json;
}

Json run_json(const ReportedRun& run, bool has_samples) {
  const parser::RunPath& path = run.run_path;
  const parser::RunSummary& summary = run.summary;
  const parser::LogFacts& facts = run.facts;

  Json json = {{"path", run.path},
               {"experiment", path.experiment},
               {"launched_at", or_null(path.launched_at)},
               {"launch_id", or_null(path.launch_id)},
               {"account", or_null(path.account)},
               {"job_id", or_null(path.job_id)},
               {"retry", or_null(path.retry)},
               {"size_bytes", run.size_bytes},
               {"dialect", dialect_name(facts.dialect)},
               {"status", run_status_name(summary.status)},
               {"status_reason", summary.status_reason},
               {"failure_cause",
                summary.failure_cause.empty() ? Json(nullptr) : Json(summary.failure_cause)},
               {"window", to_string(summary.window)},
               {"window_source", summary.window_source},
               {"window_is_whole", summary.window_is_whole},
               {"iterations_missing_in_window", summary.iterations_missing_in_window},
               {"segment", summary.segment},
               {"segment_count", summary.segment_count},
               {"last_iteration", or_null(summary.last_iteration)},
               {"declared_last_iteration", or_null(summary.declared_last_iteration)},
               {"step_count", run.step_count},
               {"step_time_s", statistics_json(summary.step_time_s)},
               {"tflops_per_gpu", statistics_json(summary.tflops_per_gpu)},
               {"reported_tflops_per_gpu", or_null(facts.reported_tflops_per_gpu)},
               {"nccl_trace_seen", facts.nccl_trace_seen},
               {"lines_too_long", facts.lines_too_long},
               {"lines_not_understood", facts.lines_not_understood},
               {"segments", segments_json(facts)},
               {"events", events_json(facts)},
               {"checkpoint_count", facts.checkpoint_count},
               {"checkpoints", checkpoints_json(facts.checkpoints)},
               {"nccl", facts.nccl_trace_seen ? nccl_json(facts.nccl) : Json(nullptr)},
               {"insight", insight_json(run.insight, run.insight_reason)},
               {"configuration", configuration_json(path.configuration)},
               {"configuration_conflicts", path.configuration.conflicting_keys()}};
  if (run.metrics) json["run_metrics"] = run_metrics_json(*run.metrics);
  if (has_samples) {
    Json samples = Json::array();
    for (const parser::StepSample& sample : run.samples) samples.push_back(sample_json(sample));
    json["samples"] = std::move(samples);
  }
  return json;
}

// One element a line, written as it is made: the whole is never in memory at once.
template <typename Items, typename ToJson>
void write_list(std::string_view name, const Items& items, const ToJson& to_json,
                std::ostream& out) {
  out << ",\n\"" << name << "\": [";
  const char* separator = "\n";
  for (const auto& item : items) {
    out << separator << dump(to_json(item));
    separator = ",\n";
  }
  out << (items.empty() ? "]" : "\n]");
}

}  // namespace

void write_json(const LogReport& report, bool has_samples, std::ostream& out) {
  using parser::RunStatus;
  Json counts = {{"logs", report.runs.size()}};
  for (const RunStatus status : {RunStatus::complete, RunStatus::running, RunStatus::incomplete,
                                 RunStatus::failed, RunStatus::invalid, RunStatus::no_data}) {
    counts[std::string(run_status_name(status))] = report.count(status);
  }
  counts["skipped"] = report.skipped.size();
  out << "{\"format\": \"llmb-report parse\", \"version\": 1,\n\"counts\": " << dump(counts);
  write_list(
      "runs", report.runs, [&](const ReportedRun& run) { return run_json(run, has_samples); }, out);
  write_list(
      "skipped", report.skipped,
      [](const SkippedFile& file) {
        return Json{{"path", file.path}, {"reason", file.reason}};
      },
      out);
  out << "\n}\n";
}

}  // namespace llmb::report
