#include "server/report/run_json.h"

#include "parser/dialects/failure_class.h"
#include "parser/dialects/failure_node.h"
#include "parser/statistics/event_role.h"
#include "parser/statistics/run_identity.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/time_source.h"
#include "server/report/json.h"
#include "server/report/report.h"

namespace llmb::report {
namespace {

// The one order of the statistics' names, for the flat and for the nested form.
template <typename Visit>
void visit_statistics(const std::optional<parser::WindowStatistics>& statistics, Visit visit) {
  const auto pick = [&](double parser::WindowStatistics::*field) {
    return statistics ? number((*statistics).*field) : Json(nullptr);
  };
  visit("count", Json(statistics ? statistics->count : 0));
  visit("mean", pick(&parser::WindowStatistics::mean));
  const auto pick_deviation = [&](double parser::WindowStatistics::*field) {
    return statistics && statistics->has_deviation() ? pick(field) : Json(nullptr);
  };
  visit("stddev_population", pick_deviation(&parser::WindowStatistics::stddev_population));
  visit("stddev_sample", pick_deviation(&parser::WindowStatistics::stddev_sample));
  visit("median", pick(&parser::WindowStatistics::median));
  visit("min", pick(&parser::WindowStatistics::min));
  visit("max", pick(&parser::WindowStatistics::max));
  visit("p95", pick(&parser::WindowStatistics::p95));
}

void add_flat(Json& json, const std::string& metric,
              const std::optional<parser::WindowStatistics>& statistics) {
  visit_statistics(statistics, [&](const char* name, Json value) {
    json[metric + "_" + name] = std::move(value);
  });
}

void add_configuration_values(Json& json, const ToldRun& run) {
  add_identity(json, run.identity);
  json["release"] = nullable(run.configuration.value("release"));
  json["cluster"] = nullable(run.cluster);
}

void add_summary(Json& json, const parser::RunSummary& summary, const std::string& window_source) {
  json["status"] = parser::run_status_name(summary.status);
  json["status_reason"] = summary.status_reason;
  json["failure_cause"] = null_if_empty(summary.failure_cause);
  json["silent_s"] = number(summary.silent_s);
  json["window"] = parser::to_string(summary.window);
  json["window_source"] = null_if_empty(window_source);
  json["window_is_whole"] = summary.window_is_whole;
  json["iterations_missing_in_window"] = summary.iterations_missing_in_window;
  json["window_interruptions"] = null_if_empty(summary.window_interruptions);
  json["is_function_check"] = summary.is_function_check;
  json["segment"] = summary.segment;
  json["segment_count"] = summary.segment_count;
  json["last_iteration"] = nullable(summary.last_iteration);
  json["declared_last_iteration"] = nullable(summary.declared_last_iteration);
  json["has_run_all_steps"] = parser::has_run_all_steps(summary);
}

Json configuration_json(const parser::RunConfiguration& configuration) {
  Json list = Json::array();
  for (const auto& [key, values] : configuration.all()) {
    const auto best = configuration.get(key);
    if (!best) continue;
    Json alternatives = Json::array();
    for (const parser::ConfigValue& value : values) {
      if (value == *best) continue;
      alternatives.push_back(
          {{"value", value.value}, {"source", parser::told_source_name(key, value.source)}});
    }
    list.push_back({{"key", key},
                    {"value", best->value},
                    {"source", parser::told_source_name(key, best->source)},
                    {"alternatives", std::move(alternatives)}});
  }
  return list;
}

Json segments_json(const std::vector<parser::SegmentFacts>& segments) {
  Json list = Json::array();
  for (const parser::SegmentFacts& segment : segments) {
    list.push_back({{"segment", segment.segment},
                    {"first_iteration", segment.first_iteration},
                    {"last_iteration", segment.last_iteration},
                    {"step_count", segment.step_count},
                    {"nan_step_count", segment.nan_step_count}});
  }
  return list;
}

Json role_json(parser::EventRole role) {
  return role == parser::EventRole::none ? Json(nullptr) : Json(parser::event_role_name(role));
}

std::vector<parser::EventPart> parts_of(const ToldRun& run) {
  const auto& times = run.summary.step_time_s;
  return parser::event_parts(run.facts, times ? std::optional(times->mean) : std::nullopt);
}

Json events_json(const ToldRun& run) {
  Json list = Json::array();
  const auto parts = parts_of(run);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const parser::LogEvent& event = run.facts.events[i];
    const bool is_failure = event.kind == parser::LogEvent::Kind::failure;
    list.push_back({{"kind", is_failure ? "failure" : "finish_marker"},
                    {"cause", event.cause},
                    {"line", event.line},
                    {"offset", event.offset},
                    {"steps_before", event.steps_before},
                    {"rank", nullable(event.rank)},
                    {"operation", null_if_empty(event.operation)},
                    {"role", role_json(parts[i].role)},
                    {"attempt", parts[i].attempt}});
  }
  return list;
}

// What came of `event`, which stands in run.facts: the later failures of its attempt.
Json followed_json(const ToldRun& run, const parser::LogEvent* event) {
  Json list = Json::array();
  if (event == nullptr) return list;
  const auto parts = parts_of(run);
  const auto own = static_cast<std::size_t>(event - run.facts.events.data());
  for (std::size_t i = own + 1; i < parts.size(); ++i) {
    const bool has_followed =
        parts[i].attempt == parts[own].attempt && (parts[i].role == parser::EventRole::cascade ||
                                                   parts[i].role == parser::EventRole::symptom);
    if (!has_followed) continue;
    const parser::LogEvent& later = run.facts.events[i];
    list.push_back({{"role", role_json(parts[i].role)},
                    {"cause", later.cause},
                    {"line", later.line},
                    {"rank", nullable(later.rank)}});
  }
  return list;
}

// Also of a complete run whose teardown failed: then the data stays valid.
Json failure_json(const ToldRun& run) {
  const parser::LogEvent* event = parser::ending_failure(run.facts, run.summary);
  const std::string& named = run.summary.failure_cause;
  const std::string cause = event != nullptr ? event->cause : named;
  if (cause.empty()) return nullptr;
  const parser::FailureClass* known = parser::find_failure_class(cause);
  Json json;
  json["cause"] = cause;
  json["advice"] = known != nullptr ? Json(known->advice) : Json(nullptr);
  json["line"] = event != nullptr ? Json(event->line) : Json(nullptr);
  json["offset"] = event != nullptr ? Json(event->offset) : Json(nullptr);
  json["steps_before"] = event != nullptr ? Json(event->steps_before) : Json(nullptr);
  json["rank"] = event != nullptr ? nullable(event->rank) : Json(nullptr);
  json["node"] = event != nullptr
                     ? null_if_empty(std::string(parser::node_of_failure(*event, run.facts.events)))
                     : Json(nullptr);
  json["operation"] = event != nullptr ? null_if_empty(event->operation) : Json(nullptr);
  json["data_is_valid"] = run.summary.status == parser::RunStatus::complete;
  json["followed_by"] = followed_json(run, event);
  return json;
}

Json profiles_json(const std::vector<storage::ProfileFile>& profiles) {
  Json list = Json::array();
  for (const storage::ProfileFile& profile : profiles) {
    list.push_back({{"relative_path", profile.relative_path},
                    {"size_bytes", profile.size_bytes},
                    {"node", nullable(profile.name.node)},
                    {"local_rank", nullable(profile.name.local_rank)},
                    {"process_id", nullable(profile.name.process_id)}});
  }
  return list;
}

void add_listed(Json& json, const storage::ListedResult& listed) {
  json["tokens_per_s_per_gpu"] = number(listed.tokens_per_s_per_gpu);
  json["mfu"] = number(listed.mfu);
  json["speed_against_reference"] = number(listed.speed_against_reference);
  json["marks"] = Json::array();
  for (const parser::RunMark mark : listed.marks) {
    json["marks"].push_back(parser::run_mark_name(mark));
  }
}

ToldRun told_run(const storage::RunRecord& run) {
  return {run.path,    run.configuration, run.listed.identity, run.cluster,    run.facts,
          run.summary, run.window_source, run.size_bytes,      run.step_count, run.is_profiled};
}

}  // namespace

void add_identity(Json& json, const parser::RunIdentity& identity) {
  json["workload"] = null_if_empty(identity.workload);
  json["model_size"] = null_if_empty(identity.model_size);
  json["dtype"] = null_if_empty(identity.dtype);
  json["gpu_type"] = null_if_empty(identity.gpu_type);
  json["gpu_count"] = nullable(identity.gpu_count);
}

ToldRun told_run(const ReportedRun& run) {
  const parser::RunConfiguration& configuration = run.run_path.configuration;
  return {run.run_path,
          configuration,
          parser::identity_of(run.judgement.match, configuration),
          configuration.value("cluster"),
          run.facts,
          run.judgement.summary,
          run.judgement.window_source,
          run.size_bytes,
          run.step_count,
          run.is_profiled};
}

void add_launch(Json& json, const parser::RunPath& path) {
  json["experiment"] = path.experiment;
  json["launched_at"] = nullable(path.launched_at);
  json["launched_at_reason"] = path.launched_at
                                   ? Json(nullptr)
                                   : Json("No folder of its path holds the time of its launch.");
  json["launch_id"] = nullable(path.launch_id);
  json["account"] = nullable(path.account);
  json["job_id"] = nullable(path.job_id);
  json["retry"] = nullable(path.retry);
}

void add_verdict(Json& json, const ToldRun& run) {
  json["size_bytes"] = run.size_bytes;
  add_configuration_values(json, run);
  json["dialect"] = parser::dialect_name(run.facts.dialect);
  json["is_profiled"] = run.is_profiled;
  json["is_traced"] = parser::is_traced(run.facts.nccl_trace_seen, run.configuration);
  add_summary(json, run.summary, run.window_source);
  json["step_count"] = run.step_count;
  json["step_time_source"] = nullable(parser::time_source(run.summary));
  add_flat(json, "step_time_s", run.summary.step_time_s);
  add_flat(json, "tflops_per_gpu", run.summary.tflops_per_gpu);
}

void add_particulars(Json& json, const ToldRun& run) {
  json["configuration"] = configuration_json(run.configuration);
  json["configuration_conflicts"] = run.configuration.conflicting_keys();
  json["segments"] = segments_json(run.facts.segments);
  json["events"] = events_json(run);
  json["failure"] = failure_json(run);
  json["reported_tflops_per_gpu"] = number(run.facts.reported_tflops_per_gpu);
  json["checkpoint_count"] = run.facts.checkpoint_count;
  json["rank_measure_count"] = run.facts.ranks.measures.size();
}

void add_reading(Json& json, const parser::LogFacts& facts) {
  json["lines_too_long"] = facts.lines_too_long;
  json["lines_not_understood"] = facts.lines_not_understood;
  json["bytes_read"] = facts.bytes_read;
}

RootPaths root_paths(const std::vector<storage::RootRecord>& roots) {
  RootPaths paths;
  for (const storage::RootRecord& root : roots) paths.emplace(root.id, root.path);
  return paths;
}

Json statistics_json(const std::optional<parser::WindowStatistics>& statistics) {
  if (!statistics) return nullptr;
  Json json;
  visit_statistics(statistics,
                   [&](const char* name, Json value) { json[name] = std::move(value); });
  return json;
}

Json run_json(const storage::RunRecord& run, const RootPaths& roots,
              std::optional<storage::RunId> original) {
  const auto root = roots.find(run.root_id);
  Json json;
  json["id"] = run.id;
  json["root_id"] = run.root_id;
  json["root"] = root == roots.end() ? Json(nullptr) : Json(root->second);
  json["relative_path"] = run.relative_path;
  json["generation"] = run.generation;
  json["is_superseded"] = run.is_superseded;
  json["revision"] = run.revision;
  add_launch(json, run.path);
  json["first_seen_at"] = run.first_seen_at;
  json["grown_at"] = run.grown_at;
  json["vanished_at"] = nullable(run.vanished_at);
  add_verdict(json, told_run(run));
  add_listed(json, run.listed);
  json["copy_of"] = nullable(original);
  return json;
}

Json run_details_json(const storage::RunRecord& run, const RootPaths& roots,
                      const RunRelations& relations) {
  Json json = run_json(run, roots, relations.original);
  json["superseded_by"] = nullable(relations.superseding_run);
  json["job"] = nullptr;
  if (const auto& job = relations.job) {
    json["job"] = {{"id", job->id},
                   {"state", job->state},
                   {"trouble", null_if_empty(job->trouble)},
                   {"limit_ends_at", nullable(job->limit_ends_at)}};
  }
  add_particulars(json, told_run(run));
  json["profiles"] = profiles_json(run.profiles);
  add_reading(json, run.facts);
  return json;
}

}  // namespace llmb::report
