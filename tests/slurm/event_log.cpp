#include "tests/slurm/event_log.h"

namespace llmb::slurm_test {

EventLog::EventLog(int port) : connection_(port) {
  connection_.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  text_ = connection_.receive("\r\n\r\n");
  reader_ = std::thread([this] {
    while (!is_over_) {
      const std::string more = connection_.receive("\n\n");
      const std::lock_guard lock(mutex_);
      text_ += more;
    }
  });
}

EventLog::~EventLog() {
  is_over_ = true;
  reader_.join();
}

std::string EventLog::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

}  // namespace llmb::slurm_test
