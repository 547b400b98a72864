// FailureReport: what ends runs, and where, made of what storage counted; with the ways to write it
// down: the same object in the API and on the command line, a table for eyes, csv.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "parser/statistics/run_summary.h"
#include "server/report/json_fwd.h"
#include "storage/failure_records.h"

namespace llmb::report {

struct FailureReport {
  struct Cause {
    std::string cause;
    storage::CountedRuns counted;
    std::int64_t running = 0;  // of these: runs that hang
  };
  // Ended and not complete, without a cause: what is known is the reason of each run's status.
  struct Unexplained {
    parser::RunStatus status = parser::RunStatus::incomplete;
    storage::CountedRuns stopped;        // short of what they were to do, as far as is known
    storage::CountedRuns all_steps_run;  // parser::has_run_all_steps(): no bad end
    storage::CountedRuns counted() const;
  };
  struct Cluster {
    std::string cluster;  // empty: not known
    std::int64_t ended = 0;
    std::int64_t failed = 0;
  };
  struct Node {
    std::string node;
    storage::CountedRuns counted;
    std::map<std::string, std::int64_t> causes;  // how many of the runs, each cause
    std::vector<storage::RunId> newest_runs;     // kNodeRunsMax at most, that began last first
  };
  // Runs that began on a day, in a week from a Monday on, or in a month.
  struct Period {
    std::string begins_on;  // "2026-01-31", UTC
    std::int64_t ended = 0;
    std::int64_t failed = 0;
    std::int64_t complete = 0;
  };

  std::int64_t ended = 0;  // runs that do not run any more, and those that hang
  std::int64_t failed = 0;
  std::int64_t complete = 0;
  // Each list has what most runs are of first.
  std::vector<Cause> causes;
  std::vector<Unexplained> unexplained;
  std::vector<Cluster> clusters;
  std::vector<Node> nodes;
  std::int64_t nodes_left_out = 0;  // of more than kFailureNodesMax
  bool nodes_are_of_all = true;     // false: of the newest storage::kFailedRunsReadMax failures
  std::string period = "day";       // "day", "week" or "month": the shortest with few enough
  std::vector<Period> periods;      // in order, without a gap
  std::int64_t ended_before = 0;    // runs that began before the first of them
};

inline constexpr std::size_t kFailureNodesMax = 200;
inline constexpr std::size_t kNodeRunsMax = 20;
inline constexpr std::size_t kFailurePeriodsMax = 62;

FailureReport failure_report(const storage::FailureCounts& counts);

Json failures_json(const FailureReport& report);
void write_failures_table(const FailureReport& report, std::ostream& out);
// A line for each cause, then for each status without one.
void write_failures_csv(const FailureReport& report, std::ostream& out);

}  // namespace llmb::report
