// IngestOptions: what is watched, and the limits and intervals of watching it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/ingest/clock.h"
#include "server/ingest/tree_parts.h"
#include "storage/database.h"

namespace llmb::parser {
struct Catalog;
}

namespace llmb::ingest {

struct RootOptions {
  std::string path;
  std::string cluster;  // empty: none
  // Of runs of which neither log, name nor llmb-config says it; empty: unknown.
  std::string gpu_type = {};
  TreeParts parts = {};
};

struct IngestOptions {
  std::vector<RootOptions> roots;
  storage::OpenOptions database;
  // A root whose runs another process writes is waited for; else it is refused.
  bool stands_by = false;
  // For how long a tree inside a root is left out when no process has it claimed any more.
  std::chrono::milliseconds inner_root_rest{300'000};
  int reader_threads = 2;                           // shared out among the roots, one each at least
  std::chrono::milliseconds hot_interval{1'000};    // files that grew within two minutes
  std::chrono::milliseconds warm_interval{15'000};  // within a day, on network file systems
  std::chrono::milliseconds cold_interval{300'000};
  // Between two scans of a root; stretched where the tree is large (see poll_schedule.h).
  std::chrono::milliseconds scan_interval{1'000};
  // A full scan lists every directory and examines every log, whatever their times say.
  std::chrono::milliseconds full_scan_interval{3'600'000};
  // inotify, on local file systems, for all roots; none: most of what the user may have.
  std::optional<std::size_t> directory_watches_max;
  // All bytes of each log that is silent are compared with what was read, this often at most, and
  // no faster than that; an interval of 0: never.
  std::chrono::milliseconds content_check_interval{24 * 3'600'000};
  double content_check_bytes_per_s = 8 << 20;
  std::chrono::milliseconds park_first{5'000};  // back-off doubles up to park_longest
  std::chrono::milliseconds park_longest{3'600'000};
  double metadata_operations_per_s_max = 2'000;  // on network file systems
  int open_files_max = 256;                      // files that are with the readers at once
  // A call into a root's file system that takes longer: the root hangs.
  std::chrono::milliseconds hangs_after{10'000};
  std::shared_ptr<const Clock> clock;  // none: the system's
  // Logs that an earlier reading told are read again from their start (rereads.h).
  bool reads_anew = false;
  // Tells which recipe a run is, and with it the window; none: the built-in one.
  std::shared_ptr<const parser::Catalog> catalog;
};

}  // namespace llmb::ingest
