// A run as JSON: one flat object for lists, with its particulars for the run's own resource.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/report/json.h"
#include "storage/job_records.h"
#include "storage/records.h"

namespace llmb::report {

using RootPaths = std::map<storage::RootId, std::string>;
RootPaths root_paths(const std::vector<storage::RootRecord>& roots);

Json run_json(const storage::RunRecord& run, const RootPaths& roots);

// run_json and configuration with its sources, segments, events and what could not be read.
// `job`: that it came from, where it was submitted here.
Json run_details_json(const storage::RunRecord& run, const RootPaths& roots,
                      const std::optional<storage::RunJob>& job);

// {"count", "mean", … "p95"}, or null.
Json statistics_json(const std::optional<parser::WindowStatistics>& statistics);

}  // namespace llmb::report
