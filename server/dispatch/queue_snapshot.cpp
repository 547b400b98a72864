#include "server/dispatch/queue_snapshot.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using Json = nlohmann::json;

// A snapshot of a large cluster holds a hundred keys for each of ten thousand jobs.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"errors", "description", "jobs", "job_id", "submit_time", "job_state", "state_reason",
     "comment", "user_id", "restart_cnt", "node_count", "partition", "nodes", "start_time",
     "end_time", "exit_code", "current_working_directory", "standard_output"});

bool keep(int depth, Json::parse_event_t event, Json& parsed) {
  if (event != Json::parse_event_t::key || (depth != 1 && depth != 3)) return true;
  const auto& key = parsed.get_ref<const std::string&>();
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::optional<std::int64_t> integer(const Json& job, const char* key) {
  const auto found = job.find(key);
  if (found == job.end()) return std::nullopt;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  if (!found->is_object() || !found->value("set", false) || found->value("infinite", false)) {
    return std::nullopt;
  }
  const auto number = found->find("number");
  if (number == found->end() || !number->is_number_integer()) return std::nullopt;
  return number->get<std::int64_t>();
}

std::string text(const Json& job, const char* key) {
  const auto found = job.find(key);
  if (found == job.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object()) return text(*found, "job");  // comment, since 24.11
  return {};
}

std::vector<std::string> words(const Json& job, const char* key) {
  const auto found = job.find(key);
  if (found == job.end()) return {};
  if (found->is_string()) return {found->get<std::string>()};
  std::vector<std::string> result;
  if (found->is_array()) {
    for (const Json& word : *found) {
      if (word.is_string()) result.push_back(word.get<std::string>());
    }
  }
  return result;
}

// A wait status, or an object with return_code.
std::optional<std::int64_t> exit_code(const Json& job) {
  const auto found = job.find("exit_code");
  if (found != job.end() && found->is_object() && found->contains("return_code")) {
    return integer(*found, "return_code");
  }
  const auto status = integer(job, "exit_code");
  return status ? std::optional(*status >> 8) : std::nullopt;
}

// Slurm writes 0 for an instant that has not come.
std::optional<std::int64_t> instant(const Json& job, const char* key) {
  const auto value = integer(job, key);
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<ObservedJob> observed(const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  const auto id = integer(entry, "job_id");
  const auto state_words = words(entry, "job_state");
  if (!id || *id <= 0 || state_words.empty()) return std::nullopt;
  ObservedJob job;
  job.job_id = *id;
  job.submit_time_s = integer(entry, "submit_time").value_or(0);
  job.state = job_state_from_slurm(state_words);
  for (const std::string& word : state_words) {
    job.slurm_state.append(job.slurm_state.empty() ? "" : "+").append(word);
  }
  job.state_reason = text(entry, "state_reason");
  job.comment = text(entry, "comment");
  job.user_id = integer(entry, "user_id");
  job.restart_count = integer(entry, "restart_cnt").value_or(0);
  job.work_folder = text(entry, "current_working_directory");
  job.output_file = text(entry, "standard_output");
  job.node_count = integer(entry, "node_count");
  job.partition = text(entry, "partition");
  job.nodes = text(entry, "nodes");
  job.start_time_s = instant(entry, "start_time");
  job.end_time_s = instant(entry, "end_time");
  job.exit_code = exit_code(entry);
  return job;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t bar = line.find('|');
    fields.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return fields;
    line.remove_prefix(bar + 1);
  }
}

std::optional<ObservedJob> accounted(std::string_view line) {
  const auto fields = fields_of(line);
  if (fields.size() != 7) return std::nullopt;
  const auto id = parser::parse_integer(fields[0]);
  const auto submit = parser::parse_integer(fields[2]);
  if (!id || *id <= 0 || !submit || fields[1].empty()) return std::nullopt;
  ObservedJob job;
  job.job_id = *id;
  job.slurm_state = std::string(fields[1]);
  job.state = job_state_from_slurm({job.slurm_state});
  job.submit_time_s = *submit;
  job.start_time_s = parser::parse_integer(fields[3]);
  job.end_time_s = parser::parse_integer(fields[4]);
  job.exit_code = parser::parse_integer(fields[5].substr(0, fields[5].find(':')));
  job.nodes = fields[6] == "None assigned" ? "" : std::string(fields[6]);
  return job;
}

}  // namespace

parser::Result<std::vector<ObservedJob>> parse_queue(std::string_view json) {
  const Json document = Json::parse(json, keep, false);
  if (document.is_discarded() || !document.is_object()) {
    return parser::fail("squeue's answer is not JSON, or was cut off");
  }
  const auto errors = document.find("errors");
  if (errors != document.end() && errors->is_array() && !errors->empty()) {
    const Json& first = errors->front();
    const std::string what = first.is_object() ? text(first, "description") : std::string();
    return parser::fail("squeue reports an error: " + (what.empty() ? "without a word" : what));
  }
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array()) {
    return parser::fail("squeue's answer has no list of jobs");
  }
  std::vector<ObservedJob> result;
  for (const Json& entry : *jobs) {
    if (auto job = observed(entry)) result.push_back(std::move(*job));
  }
  return result;
}

std::vector<ObservedJob> parse_accounting(std::string_view text) {
  std::vector<ObservedJob> jobs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto job = accounted(text.substr(0, end))) jobs.push_back(std::move(*job));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return jobs;
}

std::vector<ArrayTask> parse_array_tasks(std::string_view text, std::string_view comment) {
  std::vector<ArrayTask> tasks;
  for (const std::string_view line : parser::split(text, '\n')) {
    const std::size_t state = line.find('|');
    const std::size_t said = state == std::string_view::npos ? state : line.find('|', state + 1);
    if (said == std::string_view::npos || line.substr(said + 1) != comment) continue;
    const std::string_view id = line.substr(0, state);
    const std::size_t bar = id.find('_');
    if (bar == std::string_view::npos) continue;
    const auto job = parser::parse_digits(id.substr(0, bar));
    const auto task = parser::parse_digits(id.substr(bar + 1));
    if (!job || !task) continue;
    tasks.push_back({*job, *task, std::string(line.substr(state + 1, said - state - 1))});
  }
  return tasks;
}

const ObservedJob* find_accounted(const std::vector<ObservedJob>& records, std::int64_t job_id,
                                  std::int64_t submit_time_s) {
  std::vector<const ObservedJob*> of_job;
  for (const ObservedJob& record : records) {
    if (record.job_id == job_id && record.submit_time_s >= submit_time_s) {
      of_job.push_back(&record);
    }
  }
  std::stable_sort(of_job.begin(), of_job.end(), [](const auto* a, const auto* b) {
    return a->submit_time_s < b->submit_time_s;
  });
  if (of_job.empty() || of_job.front()->submit_time_s != submit_time_s) return nullptr;
  const ObservedJob* last = of_job.front();
  for (const ObservedJob* record : of_job) {
    // Only a record that ended in a requeue is continued by the next one.
    if (record == last || !is_final(last->state)) last = record;
  }
  return last;
}

}  // namespace llmb::dispatch
