// EventLog: what a daemon's event stream tells, read by a thread of its own so that nothing is
// dropped while a test looks elsewhere.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "tests/server/serve/daemon_process.h"

namespace llmb::slurm_test {

class EventLog {
 public:
  explicit EventLog(int port);
  ~EventLog();  // after the daemon ended
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  std::string text() const;  // all that came so far

 private:
  const cli::Connection connection_;
  mutable std::mutex mutex_;
  std::string text_;
  std::atomic<bool> is_over_ = false;
  std::thread reader_;
};

}  // namespace llmb::slurm_test
