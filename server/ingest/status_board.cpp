#include "server/ingest/status_board.h"

#include <algorithm>

namespace llmb::ingest {

RootStatus RootActivity::read() const {
  SteadyTime::duration longest{0};
  for (const auto& watch : watches_) {
    longest = std::max(longest, watch->in_call_for().value_or(SteadyTime::duration(0)));
  }
  const std::lock_guard lock(mutex_);
  if (longest < hangs_after_) {
    status_.hangs_since.reset();
  } else if (!status_.hangs_since) {
    status_.hangs_since =
        std::chrono::system_clock::now() - std::chrono::duration_cast<WallTime::duration>(longest);
  }
  return status_;
}

IngestStatus StatusBoard::read() const {
  const std::lock_guard lock(mutex_);
  IngestStatus status = status_;
  status.bytes_read = bytes_read.load();
  status.first_scan_done = roots_are_set_;
  for (const auto& root : roots_) {
    const RootStatus& one = status.roots.emplace_back(root->read());
    status.first_scan_done &= one.first_scan_done || one.hangs_since.has_value();
    status.files_seen += one.files_seen;
    status.files_pending += one.files_pending;
    status.files_parked += one.files_parked;
    status.bytes_pending += one.bytes_pending;
    if (!one.error.empty()) status.root_errors.push_back(one.error);
  }
  return status;
}

}  // namespace llmb::ingest
