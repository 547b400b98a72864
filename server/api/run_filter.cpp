#include "server/api/run_filter.h"

#include <array>
#include <limits>

#include "server/api/request_error.h"

namespace llmb::api {
namespace {

constexpr std::array<std::string_view, 14> kFilterNames = {
    "experiment", "workload",          "model_size", "dtype", "gpu_type", "gpu_count",
    "release",    "cluster",           "status",     "since", "job_id",   "root_id",
    "q",          "include_superseded"};

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::optional<parser::RunStatus> read_status(const QueryParameters& parameters) {
  const auto name = parameters.text("status");
  if (!name) return std::nullopt;
  const auto status = parser::run_status_from_name(*name);
  if (!status) {
    throw bad_request("Parameter 'status' is '" + *name +
                      "'; it has to be one of running, complete, incomplete, failed, invalid, "
                      "no_data.");
  }
  return status;
}

}  // namespace

std::vector<std::string_view> with_filter_names(std::vector<std::string_view> further) {
  further.insert(further.begin(), kFilterNames.begin(), kFilterNames.end());
  return further;
}

storage::RunFilter read_run_filter(const QueryParameters& parameters) {
  storage::RunFilter filter;
  filter.experiment = parameters.text("experiment");
  filter.workload = parameters.text("workload");
  filter.model_size = parameters.text("model_size");
  filter.dtype = parameters.text("dtype");
  filter.gpu_type = parameters.text("gpu_type");
  filter.gpu_count = parameters.integer("gpu_count", 0, kLargest);
  filter.release = parameters.text("release");
  filter.cluster = parameters.text("cluster");
  filter.status = read_status(parameters);
  filter.since = parameters.instant("since");
  // Compared as text, where "…33.5Z" stands before "…33Z"; both stand after "…33".
  if (filter.since) filter.since->pop_back();
  filter.job_id = parameters.integer("job_id", 0, kLargest);
  filter.root_id = parameters.integer("root_id", 1, kLargest);
  filter.text = parameters.text("q");
  filter.include_superseded = parameters.boolean("include_superseded").value_or(false);
  return filter;
}

}  // namespace llmb::api
