#include "log_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "parser/step_fields.h"

namespace llmb::parser {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_floating_point_v<T>) {
    json[name] = number(*value);
  } else {
    json[name] = *value;
  }
}

void put(Json& json, const char* name, std::int64_t value) {
  json[name] = value;
}
void put(Json& json, const char* name, const std::string& value) {
  if (!value.empty()) json[name] = value;
}

// Fields that the line did not have are left out.
Json sample_json(const StepSample& sample) {
  Json json;
  for_each_step_field([&](const auto& field) {
    const std::string name(field.name);
    const auto& value = sample.*field.member;
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<Value> || std::is_same_v<Value, bool>) {
      json[name] = value;
    } else {
      put(json, name.c_str(), value);
    }
  });
  if (sample.iteration_is_logged) json.erase("iteration_is_logged");
  if (!sample.step_time_s) json.erase("step_time_resolution_s");
  for (const auto& [name, value] : sample.extra_fields) {
    json["extra_fields"].push_back({name, number(value)});
  }
  return json;
}

Json nccl_json(const NcclTrace& trace) {
  Json json = {{"other_calls", trace.other_calls},
               {"other_bytes", trace.other_bytes},
               {"torn_lines", trace.torn_lines},
               {"uses", Json::array()}};
  for (const NcclUse& use : trace.uses) {
    json["uses"].push_back({use.operation, use.datatype, use.element_count, use.rank_count,
                            use.calls, use.communicator_count, use.communicators_are_complete});
  }
  return json;
}

Json ranks_json(const RankEvidence& ranks) {
  Json json = {{"values_left_out", ranks.values_left_out}, {"measures", Json::array()}};
  for (const RankMeasure& measure : ranks.measures) {
    Json one = {{"source", rank_source_name(measure.source)},
                {"quantity", measure.quantity},
                {"place", rank_place_name(measure.place)}};
    put(one, "rank", measure.rank);
    put(one, "node", measure.node);
    if (measure.is_of_other_ranks) one["is_of_other_ranks"] = true;
    one["count"] = measure.count;
    if (measure.values) {
      one["values"] = {measure.values->min, measure.values->max, measure.values->sum, measure.unit};
    }
    one["offset"] = measure.offset;
    json["measures"].push_back(std::move(one));
  }
  return json;
}

Json facts_json(const LogFacts& facts) {
  Json json;
  json["dialect"] = dialect_name(facts.dialect);
  put(json, "declared_last_iteration", facts.declared_last_iteration);
  put(json, "reported_tflops_per_gpu", facts.reported_tflops_per_gpu);
  json["segments"] = Json::array();
  for (const SegmentFacts& segment : facts.segments) {
    Json one = {{"first_iteration", segment.first_iteration},
                {"last_iteration", segment.last_iteration},
                {"step_count", segment.step_count},
                {"nan_step_count", segment.nan_step_count},
                {"first_offset", segment.first_offset}};
    put(one, "first_nan_iteration", segment.first_nan_iteration);
    json["segments"].push_back(one);
  }
  json["events"] = Json::array();
  for (const LogEvent& event : facts.events) {
    Json one = {{"kind", event.kind == LogEvent::Kind::failure ? "failure" : "finish_marker"},
                {"cause", event.cause},
                {"line", event.line},
                {"offset", event.offset},
                {"steps_before", event.steps_before}};
    put(one, "rank", event.rank);
    if (!event.operation.empty()) one["operation"] = event.operation;
    json["events"].push_back(std::move(one));
  }
  json["nccl_trace_seen"] = facts.nccl_trace_seen;
  if (facts.nccl_trace_seen) json["nccl"] = nccl_json(facts.nccl);
  if (!facts.ranks.measures.empty()) json["ranks"] = ranks_json(facts.ranks);
  for (const CheckpointEvent& event : facts.checkpoints) {
    Json one = {{"kind", checkpoint_kind_name(event.kind)}, {"offset", event.offset}};
    put(one, "iteration", event.iteration);
    put(one, "duration_s", event.duration_s);
    put(one, "rank", event.rank);
    json["checkpoints"].push_back(std::move(one));
  }
  if (facts.checkpoint_count > 0) json["checkpoint_count"] = facts.checkpoint_count;
  json["bytes_read"] = facts.bytes_read;
  json["lines_too_long"] = facts.lines_too_long;
  json["lines_not_understood"] = facts.lines_not_understood;
  return json;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::filesystem::path> logs_below(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> logs;
  if (!std::filesystem::is_directory(root)) return logs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

std::string to_json_text(const ParsedLog& log) {
  std::string text = "{\n\"facts\": " + dump(facts_json(log.facts), 2) + ",\n\"samples\": [";
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += dump(sample_json(log.samples[i]), -1);
  }
  return text + "\n]}\n";
}

void expect_same_events_however_cut(const std::string& text) {
  const LogFacts whole = parse_log(text).facts;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    LogReader first;
    first.feed(std::string_view(text).substr(0, cut));
    const std::size_t at = first.committed_offset();
    auto second = LogReader::restore(first.save_state());
    ASSERT_TRUE(second) << cut;
    second->feed(std::string_view(text).substr(at));
    second->finish();
    EXPECT_EQ(second->facts().events, whole.events) << cut;
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> own_logs() {
  return logs_below(std::filesystem::path(LLMB_SOURCE_DIR) / "tests" / "logs");
}

std::filesystem::path shared_logs() {
  const char* given = std::getenv("LLMB_SHARED_DIR");
  const std::filesystem::path shared =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(LLMB_SOURCE_DIR) / ".." / "shared";
  const std::filesystem::path logs = shared / "logs";
  return std::filesystem::is_directory(logs) ? logs : std::filesystem::path();
}

std::vector<std::filesystem::path> all_shared_logs() {
  const std::filesystem::path logs = shared_logs();
  return logs.empty() ? std::vector<std::filesystem::path>() : logs_below(logs);
}

}  // namespace llmb::parser
