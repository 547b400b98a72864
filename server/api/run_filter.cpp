#include "server/api/run_filter.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "server/api/request_error.h"
#include "server/report/filter_values.h"
#include "server/report/stored_runs.h"
#include "storage/listed_marks.h"

namespace llmb::api {
namespace {

constexpr std::array<std::string_view, 13> kListNames = {
    "experiment", "workload", "model_size", "dtype",   "gpu_type", "gpu_count",    "release",
    "cluster",    "status",   "job_id",     "root_id", "mark",     "failure_cause"};
constexpr std::array<std::string_view, 10> kSingleNames = {"since",
                                                           "before",
                                                           "q",
                                                           "include_superseded",
                                                           "tokens_per_s_per_gpu_at_least",
                                                           "tokens_per_s_per_gpu_at_most",
                                                           "mfu_at_least",
                                                           "mfu_at_most",
                                                           "speed_against_reference_at_least",
                                                           "speed_against_reference_at_most"};

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr double kTokensPerSecondMax = 1e15;
constexpr double kRatioMax = 1e6;
constexpr std::string_view kUnmarked = "none";
constexpr std::string_view kEndedBadly = "ended_badly";

void read_statuses(const QueryParameters& parameters, storage::RunFilter& filter) {
  for (const std::string& name : parameters.texts("status")) {
    if (name == kEndedBadly) {
      filter.ended_badly = true;
      continue;
    }
    const auto status = parser::run_status_from_name(name);
    if (!status) {
      throw bad_request(
          fmt::format("Parameter 'status' is '{}'; it has to be one of running, complete, "
                      "incomplete, failed, invalid, no_data, or {} for runs that are over and not "
                      "complete, and those that hang.",
                      name, kEndedBadly));
    }
    filter.status.push_back(*status);
  }
}

void read_marks(const QueryParameters& parameters, storage::RunFilter& filter) {
  for (const std::string& name : parameters.texts("mark")) {
    if (name == kUnmarked) {
      filter.is_unmarked = true;
      continue;
    }
    std::string names;
    bool is_known = false;
    for (const parser::RunMark mark : storage::kListedMarks) {
      names += fmt::format("{}, ", parser::run_mark_name(mark));
      if (parser::run_mark_name(mark) != name) continue;
      filter.marks.insert(mark);
      is_known = true;
    }
    if (is_known) continue;
    throw bad_request(
        fmt::format("Parameter 'mark' is '{}'; it has to be one of {}or {} for runs without any.",
                    name, names, kUnmarked));
  }
}

storage::NumberRange read_range(const QueryParameters& parameters, std::string_view name,
                                double max) {
  return {parameters.number(fmt::format("{}_at_least", name), 0, max),
          parameters.number(fmt::format("{}_at_most", name), 0, max)};
}

}  // namespace

QueryParameters run_list_parameters(const http::Request& request,
                                    std::vector<std::string_view> further) {
  further.insert(further.begin(), kSingleNames.begin(), kSingleNames.end());
  further.insert(further.begin(), kListNames.begin(), kListNames.end());
  return {request, further, {kListNames.begin(), kListNames.end()}};
}

RunSort read_run_sort(const QueryParameters& parameters) {
  const auto text = parameters.text("sort");
  if (!text) return {};
  const bool descending = text->starts_with('-');
  const auto key = storage::run_sort_key_from_name(descending ? text->substr(1) : *text);
  if (!key) {
    throw bad_request(
        fmt::format("Parameter 'sort' is '{}'; it has to be one of {}, with a '-' before it for "
                    "descending.",
                    *text, storage::run_sort_key_names()));
  }
  return {*text, *key, descending};
}

storage::RunFilter read_run_filter(const QueryParameters& parameters,
                                   const parser::Catalog& catalog) {
  storage::RunFilter filter;
  filter.experiment = parameters.texts("experiment");
  for (const std::string& workload : parameters.texts("workload")) {
    const auto names = report::names_of_workload(catalog, workload);
    filter.workload.insert(filter.workload.end(), names.begin(), names.end());
  }
  filter.model_size = report::spellings_asked(parameters.texts("model_size"));
  for (const std::string& dtype : parameters.texts("dtype")) {
    const auto names = report::names_of_dtype(dtype);
    filter.dtype.insert(filter.dtype.end(), names.begin(), names.end());
  }
  filter.gpu_type = report::spellings_asked(parameters.texts("gpu_type"));
  filter.gpu_count = parameters.integers("gpu_count", 0, kLargest);
  filter.release = parameters.texts("release");
  filter.cluster = report::clusters_asked(parameters.texts("cluster"));
  read_statuses(parameters, filter);
  filter.failure_cause = report::causes_asked(parameters.texts("failure_cause"));
  read_marks(parameters, filter);
  filter.tokens_per_s_per_gpu = read_range(parameters, "tokens_per_s_per_gpu", kTokensPerSecondMax);
  filter.mfu = read_range(parameters, "mfu", kRatioMax);
  filter.speed_against_reference = read_range(parameters, "speed_against_reference", kRatioMax);
  if (const auto since = parameters.instant("since")) filter.since = report::since_asked(*since);
  if (const auto before = parameters.instant("before")) {
    filter.before = report::before_asked(*before);
  }
  filter.job_id = parameters.integers("job_id", 0, kLargest);
  filter.root_id = parameters.integers("root_id", 1, kLargest);
  filter.text = parameters.text("q");
  filter.include_superseded = parameters.boolean("include_superseded").value_or(false);
  return filter;
}

}  // namespace llmb::api
