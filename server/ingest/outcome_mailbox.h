// OutcomeMailbox: where readers and the writer leave outcomes for the discovery thread, and others
// what it is to look at again; it sleeps in poll() and is woken through an event descriptor.
#pragma once

#include <sys/eventfd.h>

#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "parser/foundation/file_descriptor.h"
#include "server/ingest/memory_shortage.h"
#include "server/ingest/read_job.h"

namespace llmb::ingest {

class OutcomeMailbox {
 public:
  OutcomeMailbox() : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!wake_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  void put(FileOutcome outcome) {
    {
      const std::lock_guard lock(mutex_);
      once_there_is_memory([&] { outcomes_.push_back(std::move(outcome)); });
    }
    wake();
  }
  // Runs whose jobs may have ended.
  void ask_for_verdicts(const std::vector<storage::RunId>& runs) {
    {
      const std::lock_guard lock(mutex_);
      runs_.insert(runs_.end(), runs.begin(), runs.end());
    }
    wake();
  }
  void wake() { eventfd_write(wake_.get(), 1); }

  std::vector<FileOutcome> take_all() {
    eventfd_t count = 0;
    eventfd_read(wake_.get(), &count);
    const std::lock_guard lock(mutex_);
    return std::exchange(outcomes_, {});
  }
  std::vector<storage::RunId> take_runs() {
    const std::lock_guard lock(mutex_);
    return std::exchange(runs_, {});
  }
  int fd() const { return wake_.get(); }

 private:
  parser::FileDescriptor wake_;
  std::mutex mutex_;
  std::vector<FileOutcome> outcomes_;
  std::vector<storage::RunId> runs_;
};

}  // namespace llmb::ingest
