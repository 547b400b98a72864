// LogSink: where all ranks of a process write: whole lines, never torn, at once on their way.
#pragma once

#include <mutex>
#include <ostream>
#include <string>

namespace llmb::runner {

// Thread-safe; `out` outlives it.
class LogSink {
 public:
  explicit LogSink(std::ostream& out) : out_(out) {}

  // `text` is made of whole lines.
  void write(const std::string& text) {
    const std::lock_guard lock(mutex_);
    out_ << text << std::flush;
  }

 private:
  std::mutex mutex_;
  std::ostream& out_;
};

// Local time as the lines have it: "2025-12-22 15:18:33".
std::string local_date_time();

// Of the system's clock, since the epoch: for lines that state an instant.
double seconds_since_epoch();

}  // namespace llmb::runner
