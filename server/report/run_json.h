// A run as JSON, in one vocabulary wherever it comes from: the database, or one look at its log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/report/json_fwd.h"
#include "storage/job_records.h"
#include "storage/records.h"

namespace llmb::report {

struct ReportedRun;

// What is told of every run. Outlived by what it refers to.
struct ToldRun {
  const parser::RunPath& path;
  const parser::RunConfiguration& configuration;
  parser::RunIdentity identity;
  std::optional<std::string> cluster;
  const parser::LogFacts& facts;
  const parser::RunSummary& summary;
  const std::string& window_source;
  std::uint64_t size_bytes = 0;
  std::int64_t step_count = 0;
  bool is_profiled = false;
};

ToldRun told_run(const ReportedRun& run);

// The parts of a run's object; each adds its keys to `json`.
void add_launch(Json& json, const parser::RunPath& path);            // experiment … retry
void add_identity(Json& json, const parser::RunIdentity& identity);  // workload … gpu_count
// size_bytes, what the run is of, release, cluster, dialect, status, window, statistics
void add_verdict(Json& json, const ToldRun& run);
// configuration with its sources, segments, events, failure, … checkpoint_count
void add_particulars(Json& json, const ToldRun& run);
void add_reading(Json& json, const parser::LogFacts& facts);  // lines_too_long … bytes_read

using RootPaths = std::map<storage::RootId, std::string>;
RootPaths root_paths(const std::vector<storage::RootRecord>& roots);

// One flat object for lists. `original`: see originals_of().
Json run_json(const storage::RunRecord& run, const RootPaths& roots,
              std::optional<storage::RunId> original);

struct RunRelations {
  std::optional<storage::RunId> original;
  std::optional<storage::RunJob> job;             // that it came from, where it was submitted here
  std::optional<storage::RunId> superseding_run;  // that stands in its place
};

// run_json and its particulars.
Json run_details_json(const storage::RunRecord& run, const RootPaths& roots,
                      const RunRelations& relations);

// {"count", "mean", … "p95"}, or null.
Json statistics_json(const std::optional<parser::WindowStatistics>& statistics);

}  // namespace llmb::report
