#include "server/push/telling_json.h"

#include "parser/foundation/name_table.h"
#include "parser/statistics/run_summary.h"
#include "server/push/json_fields.h"
#include "server/push/step_rows_json.h"

namespace llmb::push {
namespace {

using parser::CheckpointEvent;
using parser::LogEvent;

using storage::PushVerdict;

constexpr std::size_t kPathBytesMax = 4096;

constexpr parser::NameTable kVerdictNames({
    parser::NameRow<PushVerdict>{PushVerdict::taken, "taken"},
    {PushVerdict::known, "known"},
    {PushVerdict::covered, "covered"},
    {PushVerdict::deferred, "deferred"},
    {PushVerdict::conflict, "conflict"},
});

// Each record's fields are named once, for both ways: `visit(name, member)`.

template <typename Path, typename Visit>
void visit_path(Path& path, Visit&& visit) {
  visit("experiment", path.experiment);
  visit("launched_at", path.launched_at);
  visit("launch_id", path.launch_id);
  visit("account", path.account);
  visit("job_id", path.job_id);
  visit("retry", path.retry);
}

template <typename Segment, typename Visit>
void visit_segment(Segment& segment, Visit&& visit) {
  visit("segment", segment.segment);
  visit("first_iteration", segment.first_iteration);
  visit("last_iteration", segment.last_iteration);
  visit("step_count", segment.step_count);
  visit("nan_step_count", segment.nan_step_count);
  visit("first_nan_iteration", segment.first_nan_iteration);
  visit("first_offset", segment.first_offset);
}

template <typename Event, typename Visit>
void visit_event(Event& event, Visit&& visit) {
  visit("cause", event.cause);
  visit("line", event.line);
  visit("offset", event.offset);
  visit("steps_before", event.steps_before);
  visit("rank", event.rank);
  visit("operation", event.operation);
}

template <typename Event, typename Visit>
void visit_checkpoint(Event& event, Visit&& visit) {
  visit("iteration", event.iteration);
  visit("duration_s", event.duration_s);
  visit("rank", event.rank);
  visit("offset", event.offset);
}

template <typename Use, typename Visit>
void visit_nccl_use(Use& use, Visit&& visit) {
  visit("operation", use.operation);
  visit("datatype", use.datatype);
  visit("element_count", use.element_count);
  visit("rank_count", use.rank_count);
  visit("calls", use.calls);
  visit("communicator_count", use.communicator_count);
  visit("communicators_are_complete", use.communicators_are_complete);
}

template <typename Measure, typename Visit>
void visit_rank_measure(Measure& measure, Visit&& visit) {
  visit("quantity", measure.quantity);
  visit("unit", measure.unit);
  visit("rank", measure.rank);
  visit("node", measure.node);
  visit("count", measure.count);
  visit("offset", measure.offset);
  visit("is_of_other_ranks", measure.is_of_other_ranks);
}

template <typename Profile, typename Visit>
void visit_profile(Profile& profile, Visit&& visit) {
  visit("relative_path", profile.relative_path);
  visit("size_bytes", profile.size_bytes);
  visit("node", profile.name.node);
  visit("local_rank", profile.name.local_rank);
  visit("process_id", profile.name.process_id);
}

template <typename Facts, typename Visit>
void visit_facts(Facts& facts, Visit&& visit) {
  visit("declared_last_iteration", facts.declared_last_iteration);
  visit("reported_tflops_per_gpu", facts.reported_tflops_per_gpu);
  visit("nccl_trace_seen", facts.nccl_trace_seen);
  visit("nccl_lines_torn", facts.nccl.torn_lines);
  visit("nccl_other_calls", facts.nccl.other_calls);
  visit("nccl_other_bytes", facts.nccl.other_bytes);
  visit("rank_values_left_out", facts.ranks.values_left_out);
  visit("checkpoint_count", facts.checkpoint_count);
  visit("bytes_read", facts.bytes_read);
  visit("lines_too_long", facts.lines_too_long);
  visit("lines_not_understood", facts.lines_not_understood);
}

template <typename Statistics, typename Visit>
void visit_statistics(Statistics& statistics, Visit&& visit) {
  visit("count", statistics.count);
  visit("mean", statistics.mean);
  visit("stddev_population", statistics.stddev_population);
  visit("stddev_sample", statistics.stddev_sample);
  visit("median", statistics.median);
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("p95", statistics.p95);
}

template <typename Summary, typename Visit>
void visit_summary(Summary& summary, Visit&& visit) {
  visit("status_reason", summary.status_reason);
  visit("failure_cause", summary.failure_cause);
  visit("silent_s", summary.silent_s);
  visit("window_first_iteration", summary.window.first_iteration);
  visit("window_last_iteration", summary.window.last_iteration);
  visit("segment", summary.segment);
  visit("segment_count", summary.segment_count);
  visit("window_is_whole", summary.window_is_whole);
  visit("iterations_missing_in_window", summary.iterations_missing_in_window);
  visit("window_interruptions", summary.window_interruptions);
  visit("printed_tokens_per_s_per_gpu", summary.printed_tokens_per_s_per_gpu);
  visit("energy_j_per_gpu_mean", summary.energy_j_per_gpu_mean);
  visit("is_function_check", summary.is_function_check);
  visit("last_iteration", summary.last_iteration);
  visit("declared_last_iteration", summary.declared_last_iteration);
}

template <typename Log, typename Visit>
void visit_log(Log& log, Visit&& visit) {
  visit("root", log.root_path);
  visit("relative_path", log.run.relative_path);
  visit("generation", log.run.generation);
  visit("revision", log.run.revision);
  visit("known_revision", log.known_revision);
  visit("known_step_count", log.known_step_count);
  visit("head_hash", log.head_hash);
  visit("head_length", log.head_length);
  visit("first_seen_at", log.run.first_seen_at);
  visit("grown_at", log.run.grown_at);
  visit("vanished_at", log.run.vanished_at);
  visit("size_bytes", log.run.size_bytes);
  visit("step_count", log.run.step_count);
  visit("window_source", log.run.window_source);
  visit("logged_global_batch_size", log.run.logged_global_batch_size);
  visit("has_more", log.has_more);
}

auto writing(JsonObject& json) {
  return [&json](const char* name, const auto& value) { json.write(name, value); };
}
auto reading(const JsonFields& fields) {
  return [&fields](const char* name, auto& value) { fields.read(name, value); };
}

Json statistics_json(const std::optional<parser::WindowStatistics>& statistics) {
  if (!statistics) return nullptr;
  JsonObject json;
  visit_statistics(*statistics, writing(json));
  return json.take();
}

std::optional<parser::WindowStatistics> read_statistics(const JsonFields& fields,
                                                        const char* name) {
  if (fields.at(name).is_null()) return std::nullopt;
  parser::WindowStatistics statistics;
  visit_statistics(statistics, reading(JsonFields(fields.at(name), name)));
  return statistics;
}

Json configuration_json(const parser::RunConfiguration& configuration) {
  Json list = Json::array();
  for (const auto& [key, values] : configuration.all()) {
    for (const parser::ConfigValue& value : values) {
      list.push_back({text_json(key), text_json(value.value),
                      std::string(parser::config_source_name(value.source))});
    }
  }
  return list;
}

parser::RunConfiguration read_configuration(const Json& list) {
  parser::RunConfiguration configuration;
  for (const Json& entry : list) {
    if (!entry.is_array() || entry.size() != 3) {
      refuse_field("configuration", "of [key, value, source]");
    }
    const auto source = parser::config_source_from_name(read_text(entry[2], "configuration"));
    if (!source) refuse_field("configuration", "of sources that are known");
    configuration.set(read_text(entry[0], "configuration"), read_text(entry[1], "configuration"),
                      *source);
  }
  return configuration;
}

// Lists of records whose fields `visit` names.
template <typename Record, typename Fields>
Json list_json(const std::vector<Record>& records, const Fields& fields) {
  Json list = Json::array();
  for (const Record& record : records) {
    JsonObject json;
    fields(record, json);
    list.push_back(json.take());
  }
  return list;
}

Json ranks_json(const std::vector<parser::RankMeasure>& measures) {
  return list_json(measures, [](const parser::RankMeasure& measure, JsonObject& into) {
    into.write("source", std::string(parser::rank_source_name(measure.source)));
    into.write("place", std::string(parser::rank_place_name(measure.place)));
    visit_rank_measure(measure, writing(into));
    Json values = nullptr;
    if (measure.values) {
      values = {real_json(measure.values->min), real_json(measure.values->max),
                real_json(measure.values->sum)};
    }
    into.write("values", std::move(values));
  });
}

parser::RankMeasure read_rank_measure(const JsonFields& fields) {
  parser::RankMeasure measure;
  measure.source = fields.read_named("source", parser::rank_source_from_name);
  measure.place = fields.read_named("place", parser::rank_place_from_name);
  visit_rank_measure(measure, reading(fields));
  const Json& values = fields.at("values");
  if (values.is_null()) return measure;
  if (!values.is_array() || values.size() != 3) refuse_field("values", "[min, max, sum] or null");
  measure.values =
      parser::RankValues{read_real(values[0], "values"), read_real(values[1], "values"),
                         read_real(values[2], "values")};
  return measure;
}

Json facts_json(const parser::LogFacts& facts) {
  JsonObject json;
  json.write("dialect", std::string(parser::dialect_name(facts.dialect)));
  visit_facts(facts, writing(json));
  json.write("segments", list_json(facts.segments, [](const auto& segment, JsonObject& into) {
               visit_segment(segment, writing(into));
             }));
  json.write("events", list_json(facts.events, [](const LogEvent& event, JsonObject& into) {
               into.write("is_failure", event.kind == LogEvent::Kind::failure);
               visit_event(event, writing(into));
             }));
  json.write("checkpoints",
             list_json(facts.checkpoints, [](const CheckpointEvent& event, JsonObject& into) {
               into.write("kind", std::string(parser::checkpoint_kind_name(event.kind)));
               visit_checkpoint(event, writing(into));
             }));
  json.write("nccl", list_json(facts.nccl.uses, [](const auto& use, JsonObject& into) {
               visit_nccl_use(use, writing(into));
             }));
  json.write("ranks", ranks_json(facts.ranks.measures));
  return json.take();
}

parser::LogFacts read_facts(const JsonFields& fields) {
  parser::LogFacts facts;
  facts.dialect = fields.read_named("dialect", parser::dialect_from_name);
  visit_facts(facts, reading(fields));
  for (const Json& json : fields.array("segments")) {
    visit_segment(facts.segments.emplace_back(), reading(JsonFields(json, "segments")));
  }
  for (const Json& json : fields.array("events")) {
    const JsonFields event(json, "events");
    bool is_failure = true;
    event.read("is_failure", is_failure);
    LogEvent& into = facts.events.emplace_back();
    into.kind = is_failure ? LogEvent::Kind::failure : LogEvent::Kind::finish_marker;
    visit_event(into, reading(event));
  }
  for (const Json& json : fields.array("checkpoints")) {
    const JsonFields event(json, "checkpoints");
    CheckpointEvent& into = facts.checkpoints.emplace_back();
    into.kind = event.read_named("kind", parser::checkpoint_kind_from_name);
    visit_checkpoint(into, reading(event));
  }
  for (const Json& json : fields.array("nccl")) {
    visit_nccl_use(facts.nccl.uses.emplace_back(), reading(JsonFields(json, "nccl")));
  }
  for (const Json& json : fields.array("ranks")) {
    facts.ranks.measures.push_back(read_rank_measure(JsonFields(json, "ranks")));
  }
  return facts;
}

Json summary_json(const parser::RunSummary& summary) {
  JsonObject json;
  json.write("status", std::string(parser::run_status_name(summary.status)));
  visit_summary(summary, writing(json));
  json.write("step_time_s", statistics_json(summary.step_time_s));
  json.write("tflops_per_gpu", statistics_json(summary.tflops_per_gpu));
  return json.take();
}

parser::RunSummary read_summary(const JsonFields& fields) {
  parser::RunSummary summary;
  summary.status = fields.read_named("status", parser::run_status_from_name);
  visit_summary(summary, reading(fields));
  summary.step_time_s = read_statistics(fields, "step_time_s");
  summary.tflops_per_gpu = read_statistics(fields, "tflops_per_gpu");
  return summary;
}

bool is_path(const std::string& path) {
  return !path.empty() && path.size() <= kPathBytesMax && path.find('\0') == std::string::npos;
}

void check(const storage::LogTelling& log) {
  if (!is_path(log.root_path) || log.root_path.front() != '/') {
    refuse_field("root", "an absolute path of at most 4096 bytes");
  }
  if (!is_path(log.run.relative_path) || log.run.relative_path.front() == '/') {
    refuse_field("relative_path", "a path below its root of at most 4096 bytes");
  }
  if (log.run.generation < 0) refuse_field("generation", "0 or more");
  if (log.run.revision < 1) refuse_field("revision", "1 or more");
  for (const std::optional<std::string>& at :
       {std::optional(log.run.first_seen_at), std::optional(log.run.grown_at),
        log.run.vanished_at}) {
    if (at && !parser::parse_instant(*at)) refuse_field("…_at", "an instant of RFC 3339");
  }
  storage::StepKey last = log.from;
  bool is_first = true;
  for (const parser::StepSample& step : log.steps) {
    const storage::StepKey key{step.segment, step.iteration};
    if (step.segment < 0 || key < last || (!is_first && key == last)) {
      refuse_field("steps", "in their order, and none before 'from'");
    }
    last = key;
    is_first = false;
  }
}

}  // namespace

Json telling_json(const storage::LogTelling& log) {
  JsonObject json;
  visit_log(log, writing(json));
  JsonObject path;
  visit_path(log.run.path, writing(path));
  json.write("path", path.take());
  json.write("configuration", configuration_json(log.run.configuration));
  json.write("facts", facts_json(log.run.facts));
  json.write("summary", summary_json(log.run.summary));
  json.write("profiles", list_json(log.run.profiles, [](const auto& profile, JsonObject& into) {
               visit_profile(profile, writing(into));
             }));
  Json from = nullptr;
  if (!log.is_whole()) from = {log.from.segment, log.from.iteration};
  json.write("from", std::move(from));
  json.write("steps", steps_json(log.steps));
  return json.take();
}

storage::LogTelling read_telling(const Json& json) {
  const JsonFields fields(json, "an entry of logs");
  storage::LogTelling log;
  visit_log(log, reading(fields));
  visit_path(log.run.path, reading(JsonFields(fields.at("path"), "path")));
  log.run.configuration = read_configuration(fields.array("configuration"));
  log.run.facts = read_facts(JsonFields(fields.at("facts"), "facts"));
  log.run.summary = read_summary(JsonFields(fields.at("summary"), "summary"));
  for (const Json& profile : fields.array("profiles")) {
    visit_profile(log.run.profiles.emplace_back(), reading(JsonFields(profile, "profiles")));
  }
  if (const Json& from = fields.at("from"); !from.is_null()) {
    if (!from.is_array() || from.size() != 2) refuse_field("from", "[segment, iteration] or null");
    log.from = {read_integer(from[0], "from"), read_integer(from[1], "from")};
    if (log.from.segment < 0) refuse_field("from", "[segment, iteration] or null");
  }
  log.steps = read_steps(fields.at("steps"));
  check(log);
  return log;
}

std::string_view push_verdict_name(PushVerdict verdict) {
  return kVerdictNames.name(verdict);
}
std::optional<PushVerdict> push_verdict_from_name(std::string_view name) {
  return kVerdictNames.value(name);
}

}  // namespace llmb::push
