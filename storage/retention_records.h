// What is removed on purpose, as values: by which policy, what that would remove, what was removed,
// and what is kept of a log so that it is not read again. No SQL here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parser/foundation/instant.h"
#include "storage/records.h"

namespace llmb::storage {

// Which logs go: those whose newest generation fits every filter that is set. A log goes with all
// its generations. A running one that grew within a day (kActiveFor) stays.
struct RetentionPolicy {
  std::string words;                        // as it was asked for: "older than 400d, cluster eos"
  std::optional<std::string> grown_before;  // RFC 3339 UTC, compared as text
  std::optional<std::string> cluster;       // as lists have it
  std::optional<std::string> root;          // path
  bool only_gone = false;                   // those whose logs are there no more
  // Only the text of pushed logs; runs, steps and results stay.
  bool only_log_text = false;
};
inline constexpr std::chrono::hours kActiveFor{24};

struct RemovalCount {
  std::int64_t runs = 0;  // superseded generations among them
  std::int64_t steps = 0;
  std::uint64_t log_text_bytes = 0;  // as stored

  RemovalCount& operator+=(const RemovalCount& other) {
    runs += other.runs;
    steps += other.steps;
    log_text_bytes += other.log_text_bytes;
    return *this;
  }
};

// What a policy would remove of the logs of one cluster that grew last in one year.
struct RemovalGroup {
  std::string cluster;  // empty: none
  std::string year;
  RemovalCount count;
};

struct RemovalPlan {
  std::vector<RemovalGroup> groups;  // by cluster, then year
  // The newest runs of the logs, by id, each with how much there is to do, in steps.
  struct Log {
    RunId run = 0;
    std::int64_t weight = 0;
  };
  std::vector<Log> logs;
  std::int64_t still_active = 0;  // logs that fit, and grew within kActiveFor
};

// Which removed logs are to be let in again: those that fit every filter that is set.
struct UndoFilter {
  std::optional<std::string> cluster;          // of the tree
  std::optional<std::string> root;             // path
  std::optional<std::string> launched_before;  // RFC 3339 UTC, compared as text; these two
  std::optional<std::string> removed_since;
};

// What fits of the logs of one cluster that were launched in one year.
struct UndoGroup {
  std::string cluster;  // empty: the tree has none
  std::string year;     // empty: the log's path does not say
  std::int64_t logs = 0;
  std::int64_t steps = 0;        // that they had
  std::string first_removed_at;  // RFC 3339 UTC
  std::string last_removed_at;
};

struct UndoPlan {
  std::vector<UndoGroup> groups;  // by cluster, then year
  std::int64_t pushed_logs = 0;   // of all logs those that agents told
  std::vector<RunId> removed;     // by log: the ids of RemovedLog; several of a pushed one
  // Removals that may fit: their tree names no cluster, their path no launch.
  std::int64_t of_unknown_cluster = 0;
  std::set<std::string> trees_of_unknown_cluster;  // their paths
  std::int64_t of_unknown_launch = 0;
};

// All that was ever removed from a database.
struct RemovalTotal {
  RemovalCount count;
  std::optional<std::string> removed_at;  // the last time; nothing: never
};

// What is kept of every run that was removed, for whoever asks for it by its id.
struct RemovedRun {
  std::string removed_at;
  std::string policy;  // its words
};

// What is kept of a log whose runs were removed, for as long as it stands as it was.
struct RemovedLog {
  RunId id = 0;  // that its run had
  RootId root_id = 0;
  std::string relative_path;
  std::int64_t generation = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t bytes_read = 0;
  LogCursor cursor;  // without a parser's state
  // A pushed one's: whose word it was, by the store's own numbers.
  std::string store_id;
  std::int64_t store_generation = 0;
  std::int64_t store_revision = 0;
  std::int64_t store_step_count = 0;
};

}  // namespace llmb::storage
