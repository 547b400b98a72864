// IngestStatus: how far ingest has come and what is in its way, for the API, the command line and
// /metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/ingest/clock.h"
#include "server/ingest/reread_refusal.h"
#include "storage/records.h"

namespace llmb::ingest {

// One root, as its own threads report it.
struct RootStatus {
  storage::RootId id = 0;
  std::string path;
  bool first_scan_done = false;
  std::int64_t files_seen = 0;
  std::int64_t files_pending = 0;  // known to have bytes that are not read yet
  std::int64_t files_parked = 0;
  std::int64_t files_of_earlier_reading = 0;  // whose runs were told by rules that changed since
  RereadsLeft rereads_left;                   // of these
  std::uint64_t bytes_pending = 0;
  std::string error;  // why its last scan failed; empty when it did not
  // Since when a call into its file system has not come back; nothing while it answers.
  std::optional<WallTime> hangs_since;
};

// Sums over the roots, where roots report.
struct IngestStatus {
  bool first_scan_done = false;  // of every root that answers
  std::int64_t files_seen = 0;
  std::int64_t files_pending = 0;
  std::int64_t files_parked = 0;
  std::int64_t files_of_earlier_reading = 0;
  RereadsLeft rereads_left;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_pending = 0;
  std::int64_t samples_committed = 0;
  std::string halted_reason;  // why nothing is written just now (disk full); empty when well
  std::vector<std::string> root_errors;  // one sentence each; roots that hang have none
  std::vector<RootStatus> roots;         // in the order they were given
  // Paths of those whose runs another process writes: this one follows when it ends.
  std::vector<std::string> roots_standing_by;
};

}  // namespace llmb::ingest
