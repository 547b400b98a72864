#include "server/push/packed_telling.h"

#include <string>
#include <type_traits>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "parser/foundation/instant.h"
#include "parser/foundation/name_table.h"
#include "parser/statistics/run_summary.h"
#include "parser/step_fields.h"
#include "storage/packed_steps.h"

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

std::string_view event_kind_name(LogEvent::Kind kind) {
  return kind == LogEvent::Kind::failure ? "failure" : "finish_marker";
}
std::optional<LogEvent::Kind> event_kind_from_name(std::string_view name) {
  if (name == "failure") return LogEvent::Kind::failure;
  return name == "finish_marker" ? std::optional(LogEvent::Kind::finish_marker) : std::nullopt;
}

// Each record's fields are named once, for three visitors: one writes, one reads, one hashes the
// names. visit(name, value); visit.named() where a value is told by a name of its own; visit.list()
// and visit.record() where it has fields itself.

template <typename Visit, typename Record>
using Of = std::conditional_t<Visit::kFills, Record, const Record>;

template <typename Visit>
void visit_fields(Of<Visit, parser::RunPath>& path, Visit& visit) {
  visit("experiment", path.experiment);
  visit("launched_at", path.launched_at);
  visit("launch_id", path.launch_id);
  visit("account", path.account);
  visit("job_id", path.job_id);
  visit("retry", path.retry);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::SegmentFacts>& segment, Visit& visit) {
  visit("segment", segment.segment);
  visit("first_iteration", segment.first_iteration);
  visit("last_iteration", segment.last_iteration);
  visit("step_count", segment.step_count);
  visit("nan_step_count", segment.nan_step_count);
  visit("first_nan_iteration", segment.first_nan_iteration);
  visit("first_offset", segment.first_offset);
}

template <typename Visit>
void visit_fields(Of<Visit, LogEvent>& event, Visit& visit) {
  visit.named("kind", event.kind, event_kind_name, event_kind_from_name);
  visit("cause", event.cause);
  visit("line", event.line);
  visit("offset", event.offset);
  visit("steps_before", event.steps_before);
  visit("rank", event.rank);
  visit("operation", event.operation);
}

template <typename Visit>
void visit_fields(Of<Visit, CheckpointEvent>& event, Visit& visit) {
  visit.named("kind", event.kind, parser::checkpoint_kind_name, parser::checkpoint_kind_from_name);
  visit("iteration", event.iteration);
  visit("duration_s", event.duration_s);
  visit("rank", event.rank);
  visit("offset", event.offset);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::NcclUse>& use, Visit& visit) {
  visit("operation", use.operation);
  visit("datatype", use.datatype);
  visit("element_count", use.element_count);
  visit("rank_count", use.rank_count);
  visit("calls", use.calls);
  visit("communicator_count", use.communicator_count);
  visit("communicators_are_complete", use.communicators_are_complete);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::RankValues>& values, Visit& visit) {
  visit("min", values.min);
  visit("max", values.max);
  visit("sum", values.sum);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::RankMeasure>& measure, Visit& visit) {
  visit.named("source", measure.source, parser::rank_source_name, parser::rank_source_from_name);
  visit.named("place", measure.place, parser::rank_place_name, parser::rank_place_from_name);
  visit("quantity", measure.quantity);
  visit("unit", measure.unit);
  visit("rank", measure.rank);
  visit("node", measure.node);
  visit("count", measure.count);
  visit("offset", measure.offset);
  visit("is_of_other_ranks", measure.is_of_other_ranks);
  visit.record("values", measure.values);
}

template <typename Visit>
void visit_fields(Of<Visit, storage::ProfileFile>& profile, Visit& visit) {
  visit("relative_path", profile.relative_path);
  visit("size_bytes", profile.size_bytes);
  visit("node", profile.name.node);
  visit("local_rank", profile.name.local_rank);
  visit("process_id", profile.name.process_id);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::LogFacts>& facts, Visit& visit) {
  visit.named("dialect", facts.dialect, parser::dialect_name, parser::dialect_from_name);
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
  visit.list("segments", facts.segments);
  visit.list("events", facts.events);
  visit.list("checkpoints", facts.checkpoints);
  visit.list("nccl", facts.nccl.uses);
  visit.list("ranks", facts.ranks.measures);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::WindowStatistics>& statistics, Visit& visit) {
  visit("count", statistics.count);
  visit("mean", statistics.mean);
  visit("stddev_population", statistics.stddev_population);
  visit("stddev_sample", statistics.stddev_sample);
  visit("median", statistics.median);
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("p95", statistics.p95);
}

template <typename Visit>
void visit_fields(Of<Visit, parser::RunSummary>& summary, Visit& visit) {
  visit.named("status", summary.status, parser::run_status_name, parser::run_status_from_name);
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
  visit.record("step_time_s", summary.step_time_s);
  visit.record("tflops_per_gpu", summary.tflops_per_gpu);
}

template <typename Visit>
void visit_fields(Of<Visit, storage::LogTelling>& log, Visit& visit) {
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
  visit("reading", log.run.reading);
  visit("window_source", log.run.window_source);
  visit("logged_global_batch_size", log.run.logged_global_batch_size);
  visit("has_more", log.has_more);
  visit("is_settled", log.is_settled);
  visit("from_segment", log.from.segment);
  visit("from_iteration", log.from.iteration);
  visit_fields(log.run.path, visit);
  visit.configuration(log.run.configuration);
  visit_fields(log.run.facts, visit);
  visit_fields(log.run.summary, visit);
  visit.list("profiles", log.run.profiles);
  visit.steps(log.steps);
}

class Writing {
 public:
  static constexpr bool kFills = false;
  explicit Writing(storage::PackWriter& writer) : writer_(writer) {}

  template <typename T>
  void operator()(const char* /*name*/, const T& value) {
    writer_.write(value);
  }
  template <typename T, typename NameOf, typename FromName>
  void named(const char* /*name*/, const T& value, NameOf name_of, FromName /*from_name*/) {
    writer_.write(std::string(name_of(value)));
  }
  template <typename Record>
  void list(const char* /*name*/, const std::vector<Record>& records) {
    writer_.count(records.size());
    for (const Record& record : records) visit_fields(record, *this);
  }
  template <typename Record>
  void record(const char* /*name*/, const std::optional<Record>& record) {
    writer_.write(record.has_value());
    if (record) visit_fields(*record, *this);
  }
  void configuration(const parser::RunConfiguration& configuration) {
    writer_.count(configuration.all().size());
    for (const auto& [key, values] : configuration.all()) {
      writer_.write(key);
      writer_.count(values.size());
      for (const parser::ConfigValue& value : values) {
        writer_.write(value.value);
        writer_.write(std::string(parser::config_source_name(value.source)));
      }
    }
  }
  void steps(const std::vector<parser::StepSample>& steps) { storage::pack_steps(writer_, steps); }

 private:
  storage::PackWriter& writer_;
};

class Reading {
 public:
  static constexpr bool kFills = true;
  explicit Reading(storage::PackReader& reader) : reader_(reader) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    reader_.read(name, value);
  }
  template <typename T, typename NameOf, typename FromName>
  void named(const char* name, T& value, NameOf /*name_of*/, FromName from_name) {
    const auto known = from_name(reader_.raw(reader_.length(name), name));
    if (!known) storage::refuse_field(name, "one that is known");
    value = *known;
  }
  template <typename Record>
  void list(const char* name, std::vector<Record>& records) {
    const std::size_t count = reader_.length(name);
    reader_.take_memory(count, sizeof(Record), name);
    records.resize(count);
    for (Record& record : records) visit_fields(record, *this);
  }
  template <typename Record>
  void record(const char* name, std::optional<Record>& record) {
    bool is_there = false;
    reader_.read(name, is_there);
    record.reset();
    if (is_there) visit_fields(record.emplace(), *this);
  }
  void configuration(parser::RunConfiguration& configuration) {
    const std::size_t key_count = reader_.length("configuration");
    for (std::size_t i = 0; i < key_count; ++i) {
      std::string key;
      reader_.read("configuration", key);
      const std::size_t value_count = reader_.length("configuration");
      for (std::size_t j = 0; j < value_count; ++j) {
        reader_.take_memory(1, key.size(), "configuration");
        std::string value;
        reader_.read("configuration", value);
        auto source = parser::ConfigSource::path;
        named("configuration", source, parser::config_source_name, parser::config_source_from_name);
        configuration.set(key, std::move(value), source);
      }
    }
  }
  void steps(std::vector<parser::StepSample>& steps) { steps = storage::unpack_steps(reader_); }

 private:
  storage::PackReader& reader_;
};

class Hashing {
 public:
  static constexpr bool kFills = false;

  template <typename T>
  void operator()(const char* name, const T& /*value*/) {
    add(name);
  }
  template <typename T, typename NameOf, typename FromName>
  void named(const char* name, const T& /*value*/, NameOf /*name_of*/, FromName /*from_name*/) {
    add(name);
  }
  template <typename Record>
  void list(const char* name, const std::vector<Record>& /*records*/) {
    add(name);
    visit_fields(Record(), *this);
  }
  template <typename Record>
  void record(const char* name, const std::optional<Record>& /*record*/) {
    add(name);
    visit_fields(Record(), *this);
  }
  void configuration(const parser::RunConfiguration& /*configuration*/) { add("configuration"); }
  void steps(const std::vector<parser::StepSample>& /*steps*/) {
    parser::for_each_step_field([this](const auto& field) { add(field.name); });
  }
  std::uint64_t hash() const { return hash_; }

 private:
  void add(std::string_view name) { hash_ = parser::fnv1a(";", parser::fnv1a(name, hash_)); }

  std::uint64_t hash_ = parser::kFnv1aBasis;
};

bool is_path(const std::string& path) {
  return !path.empty() && path.size() <= kPathBytesMax && path.find('\0') == std::string::npos;
}

void check(const storage::LogTelling& log) {
  if (!is_path(log.root_path) || log.root_path.front() != '/') {
    storage::refuse_field("root", "an absolute path of at most 4096 bytes");
  }
  if (!is_path(log.run.relative_path) || log.run.relative_path.front() == '/') {
    storage::refuse_field("relative_path", "a path below its root of at most 4096 bytes");
  }
  if (log.run.generation < 0) storage::refuse_field("generation", "0 or more");
  if (log.run.revision < 1) storage::refuse_field("revision", "1 or more");
  for (const std::optional<std::string>& at :
       {std::optional(log.run.first_seen_at), std::optional(log.run.grown_at),
        log.run.vanished_at}) {
    if (at && !parser::parse_instant(*at)) storage::refuse_field("…_at", "an instant of RFC 3339");
  }
  if (!log.is_whole() && log.from.segment < 0) storage::refuse_field("from_segment", "0 or more");
  storage::StepKey last = log.from;
  bool is_first = true;
  for (const parser::StepSample& step : log.steps) {
    const storage::StepKey key{step.segment, step.iteration};
    if (step.segment < 0 || key < last || (!is_first && key == last)) {
      storage::refuse_field("steps", "in their order, and none before 'from'");
    }
    last = key;
    is_first = false;
  }
}

}  // namespace

std::uint64_t form_hash() {
  static const std::uint64_t hash = [] {
    Hashing hashing;
    visit_fields(storage::LogTelling(), hashing);
    return hashing.hash();
  }();
  return hash;
}

void pack_telling(storage::PackWriter& writer, const storage::LogTelling& log) {
  Writing writing(writer);
  visit_fields(log, writing);
}

storage::LogTelling unpack_telling(storage::PackReader& reader) {
  storage::LogTelling log;
  Reading reading(reader);
  visit_fields(log, reading);
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
