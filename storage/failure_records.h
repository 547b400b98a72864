// What ends runs, as storage counts it: by status, cause, tree, cluster and day, and the lines
// that tell of it. Values only; server/report makes answers of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/statistics/run_summary.h"
#include "parser/statistics/tree_clusters.h"
#include "storage/records.h"

namespace llmb::storage {

// Some of the runs that match: how many, and which of them began last, and when.
struct CountedRuns {
  std::int64_t runs = 0;
  RunId newest_run = 0;
  std::string newest_began_at;  // launched_at, else first_seen_at

  void add(const CountedRuns& others);
  bool operator==(const CountedRuns&) const = default;
};

// Of runs that began on one day. A run has ended, for this, if it is not running any more, or
// hangs. Of runs of one log the first counts (copied_runs.h).
struct EndedRuns {
  parser::RunStatus status = parser::RunStatus::no_data;
  std::string cause;  // empty: nothing shows one
  RootId root_id = 0;
  std::optional<std::string> cluster;  // as the runs name it
  std::string day;                     // "2026-01-31", UTC
  CountedRuns counted;
  bool have_run_all_steps = false;  // parser::has_run_all_steps() of each
};

// What a run's log tells of the failure by which it ended.
struct FailureLine {
  RunId run = 0;
  std::string began_at;
  std::string cause;
  std::string line;
  std::string node;  // parser::node_of_failure(); empty: none is named
};

struct FailureCounts {
  std::vector<EndedRuns> ended;    // in no order
  std::vector<FailureLine> lines;  // by run, one at most of each
  bool lines_are_of_all = true;    // false: of the newest kFailedRunsReadMax runs with a cause
  parser::TreeClusters trees;      // of which cluster the runs are that name none
};

inline constexpr std::int64_t kFailedRunsReadMax = 10'000;

}  // namespace llmb::storage
