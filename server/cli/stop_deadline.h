// StopDeadline: ends the process where stopping takes too long, because a thread waits for a file
// system or a program that does not answer. What was committed stays: no end of the process loses
// any of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace llmb::cli {

class StopDeadline {
 public:
  // From now on; the process ends with `exit_code`.
  StopDeadline(std::chrono::milliseconds patience, int exit_code);
  ~StopDeadline();  // stopping has come to its end
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace llmb::cli
