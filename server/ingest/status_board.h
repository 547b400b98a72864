// StatusBoard: the IngestStatus that all threads of ingest write to and anybody reads. What a root
// reports stands in a RootActivity of its own; the board sums them up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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
  // Of a lane (lane.h): the roots that it writes just now.
  void set_roots(std::size_t lane, std::vector<std::shared_ptr<RootActivity>> roots) {
    const std::lock_guard lock(mutex_);
    roots_[lane] = std::move(roots);
  }
  // The root whose runs another process writes; empty: there is none.
  void set_standing_by(std::size_t lane, std::string root) {
    const std::lock_guard lock(mutex_);
    standing_by_[lane] = std::move(root);
  }
  // Why a lane writes nothing just now; empty: it does.
  void set_halted(std::size_t lane, std::string reason) {
    const std::lock_guard lock(mutex_);
    halted_[lane] = std::move(reason);
  }
  // All lanes have told of their roots; there may be none: a server that only receives.
  void begin() {
    const std::lock_guard lock(mutex_);
    has_begun_ = true;
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
  IngestStatus status_;  // but for what the roots and the lanes report
  std::map<std::size_t, std::vector<std::shared_ptr<RootActivity>>> roots_;
  std::map<std::size_t, std::string> standing_by_;
  std::map<std::size_t, std::string> halted_;
  bool has_begun_ = false;
};

}  // namespace llmb::ingest
