// StatusBoard: the IngestStatus that all threads of ingest write to and anybody reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "server/ingest/ingest.h"

namespace llmb::ingest {

class StatusBoard {
 public:
  template <typename Change>
  void update(Change&& change) {
    const std::lock_guard lock(mutex_);
    std::forward<Change>(change)(status_);
  }

  IngestStatus read() const {
    const std::lock_guard lock(mutex_);
    IngestStatus status = status_;
    status.bytes_read = bytes_read.load();
    return status;
  }

  std::atomic<std::uint64_t> bytes_read = 0;  // written by the readers, block by block

 private:
  mutable std::mutex mutex_;
  IngestStatus status_;
};

}  // namespace llmb::ingest
