#include "server/ingest/status_board.h"

#include <algorithm>

namespace llmb::ingest {
namespace {

void add(IngestStatus& status, const RootStatus& root) {
  status.first_scan_done &= root.first_scan_done || root.hangs_since.has_value();
  status.files_seen += root.files_seen;
  status.files_pending += root.files_pending;
  status.files_parked += root.files_parked;
  status.files_of_earlier_reading += root.files_of_earlier_reading;
  for (const RereadRefusal refusal : kRereadRefusals) {
    status.rereads_left.of(refusal) += root.rereads_left.of(refusal);
  }
  status.bytes_pending += root.bytes_pending;
  if (!root.error.empty()) status.root_errors.push_back(root.error);
  status.roots.push_back(root);
}

}  // namespace

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
  status.first_scan_done = has_begun_;
  for (const auto& [lane, roots] : roots_) {
    for (const auto& root : roots) add(status, root->read());
  }
  for (const auto& [lane, root] : standing_by_) {
    if (!root.empty()) status.roots_standing_by.push_back(root);
  }
  for (const auto& [lane, reason] : halted_) {
    if (status.halted_reason.empty()) status.halted_reason = reason;
  }
  return status;
}

}  // namespace llmb::ingest
