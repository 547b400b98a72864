// StatusBoard: the IngestStatus that all threads of ingest write to and anybody reads. What a root
// reports stands in a RootActivity of its own; the board sums them up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "server/ingest/call_watch.h"
#include "server/ingest/ingest_status.h"

namespace llmb::ingest {

class RootActivity {
 public:
  // `status`: its id and path. `watches`: of the root's threads.
  RootActivity(RootStatus status, std::vector<std::shared_ptr<const CallWatch>> watches,
               std::chrono::milliseconds hangs_after)
      : watches_(std::move(watches)), hangs_after_(hangs_after), status_(std::move(status)) {}

  template <typename Change>
  void update(Change&& change) {
    const std::lock_guard lock(mutex_);
    std::forward<Change>(change)(status_);
  }

  // Whether it hangs is found here, because a thread that hangs reports nothing.
  RootStatus read() const;

 private:
  const std::vector<std::shared_ptr<const CallWatch>> watches_;
  const std::chrono::milliseconds hangs_after_;
  mutable std::mutex mutex_;
  mutable RootStatus status_;  // hangs_since is kept, so that it is one instant for all who ask
};

class StatusBoard {
 public:
  void set_roots(std::vector<std::shared_ptr<RootActivity>> roots) {
    const std::lock_guard lock(mutex_);
    roots_ = std::move(roots);
    roots_are_set_ = true;
  }

  template <typename Change>
  void update(Change&& change) {
    const std::lock_guard lock(mutex_);
    std::forward<Change>(change)(status_);
  }

  IngestStatus read() const;

  std::atomic<std::uint64_t> bytes_read = 0;  // written by the readers, block by block

 private:
  mutable std::mutex mutex_;
  IngestStatus status_;  // but for what the roots report
  std::vector<std::shared_ptr<RootActivity>> roots_;
  bool roots_are_set_ = false;  // there may be none: a server that only receives
};

}  // namespace llmb::ingest
