#include <ostream>
#include <string_view>

#include "parser/step_fields.h"
#include "parser/step_interruption.h"
#include "server/report/catalog_json.h"
#include "server/report/evidence_json.h"
#include "server/report/json.h"
#include "server/report/report.h"
#include "server/report/run_json.h"

namespace llmb::report {
namespace {

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
  set(json, "interruptions", parser::interruption_text(sample));
  for (const auto& [name, value] : sample.extra_fields) {
    if (!parser::is_step_mark(name)) json["extra_fields"][name] = value;
  }
  return json;
}

Json refusals_json(const std::vector<Refusals>& refusals) {
  Json list = Json::array();
  for (const Refusals& refused : refusals) {
    Json samples = Json::array();
    for (const RefusedSample& sample : refused.samples) {
      const Json line = sample.line_number ? Json(*sample.line_number) : Json(nullptr);
      samples.push_back({{"line_number", line}, {"line", sample.text}});
    }
    list.push_back({{"reason", parser::line_refusal_name(refused.reason)},
                    {"explanation", parser::line_refusal_explanation(refused.reason)},
                    {"count", refused.count},
                    {"samples", std::move(samples)}});
  }
  return list;
}

Json log_json(const ReportedRun& run, const LogReport& report) {
  const parser::LogFacts& facts = run.facts;
  const ToldRun told = told_run(run);
  Json json;
  json["path"] = run.path;
  add_launch(json, run.run_path);
  add_verdict(json, told);
  add_particulars(json, told);
  json["marks"] = mark_names(run);
  add_reading(json, facts);
  json["read_in_part"] = run.flaw.empty() ? Json(nullptr) : Json(run.flaw);
  json["checkpoints"] = checkpoints_json(facts.checkpoints);
  json["nccl"] = facts.nccl_trace_seen ? nccl_json(facts.nccl) : Json(nullptr);
  json["ranks"] = facts.ranks.measures.empty() ? Json(nullptr) : ranks_json(facts.ranks);
  json["insight"] = insight_json(run.insight, run.insight_reason);
  if (report.has_metrics) json["run_metrics"] = run_metrics_json(run.judgement);
  if (report.has_refusals) json["refused_lines"] = refusals_json(run.refusals);
  if (report.has_samples) {
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
    out << separator << to_text(to_json(item));
    separator = ",\n";
  }
  out << (items.empty() ? "]" : "\n]");
}

}  // namespace

void write_json(const LogReport& report, std::ostream& out) {
  using parser::RunStatus;
  Json counts = {{"logs", report.runs.size()}};
  for (const RunStatus status : {RunStatus::complete, RunStatus::running, RunStatus::incomplete,
                                 RunStatus::failed, RunStatus::invalid, RunStatus::no_data}) {
    counts[std::string(run_status_name(status))] = report.count(status);
  }
  counts["skipped"] = report.skipped.size();
  out << "{\"format\": \"llmb-report parse\", \"version\": 2,\n\"counts\": " << to_text(counts);
  write_list(
      "runs", report.runs, [&](const ReportedRun& run) { return log_json(run, report); }, out);
  write_list(
      "skipped", report.skipped,
      [](const SkippedFile& file) {
        return Json{{"path", file.path}, {"reason", file.reason}};
      },
      out);
  out << "\n}\n";
}

}  // namespace llmb::report
