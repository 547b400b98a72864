// Ingest: keeps the database equal to the logs under the roots. One discovery thread and a few
// readers for each root, one writer; stop() ends them within seconds, and leaves behind those that
// hang in a root's file system (see abandoned_call.h). Knows no HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/ingest/clock.h"
#include "storage/database.h"

namespace llmb::parser {
struct Catalog;
}

namespace llmb::ingest {

struct RootOptions {
  std::string path;
  std::string cluster;  // empty: none
};

struct IngestOptions {
  std::vector<RootOptions> roots;
  storage::OpenOptions database;
  int reader_threads = 2;                           // shared out among the roots, one each at least
  std::chrono::milliseconds hot_interval{1'000};    // files that grew within two minutes
  std::chrono::milliseconds warm_interval{15'000};  // within a day
  std::chrono::milliseconds cold_interval{300'000};
  // Between two scans of a root; stretched so that scanning takes at most a fiftieth of a core.
  std::chrono::milliseconds scan_interval{1'000};
  // A full scan also examines the logs that are not polled any more.
  std::chrono::milliseconds full_scan_interval{3'600'000};
  std::size_t directory_watches_max = 8'192;    // inotify, on local file systems
  std::chrono::milliseconds park_first{5'000};  // back-off doubles up to park_longest
  std::chrono::milliseconds park_longest{3'600'000};
  double metadata_operations_per_s_max = 2'000;  // on network file systems
  int open_files_max = 256;                      // files that are with the readers at once
  // A call into a root's file system that takes longer: the root hangs.
  std::chrono::milliseconds hangs_after{10'000};
  std::shared_ptr<const Clock> clock;  // none: the system's
  // Tells which recipe a run is, and with it the window; none: the built-in one.
  std::shared_ptr<const parser::Catalog> catalog;
};

struct RunChange {
  enum class Kind { added, grown, status, superseded };
  Kind kind = Kind::grown;
  storage::RunId run = 0;
};

// One root, as its own threads report it.
struct RootStatus {
  storage::RootId id = 0;
  std::string path;
  bool first_scan_done = false;
  std::int64_t files_seen = 0;
  std::int64_t files_pending = 0;  // known to have bytes that are not read yet
  std::int64_t files_parked = 0;
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
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_pending = 0;
  std::int64_t samples_committed = 0;
  std::string halted_reason;  // why nothing is written just now (disk full); empty when well
  std::vector<std::string> root_errors;  // one sentence each; roots that hang have none
  std::vector<RootStatus> roots;         // in the order they were given
};

class Ingest {
 public:
  // Opens the database (throws StorageError). `on_change` is called from the writer's thread
  // after each commit.
  Ingest(IngestOptions options, std::function<void(const RunChange&)> on_change);
  ~Ingest();  // stops
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  void start();  // follows the roots until stop()
  void stop();
  void request_stop();  // from any thread; returns at once
  // Reads all there is, once, on the calling thread's watch; `on_progress` is called now and
  // then. Ends early after request_stop(). Throws std::runtime_error where nothing can be written.
  void run_once(const std::function<void(const IngestStatus&)>& on_progress);

  IngestStatus status() const;  // thread-safe

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::ingest
