// One line on a terminal's stderr that says how far a long work is; nothing elsewhere, and
// nothing for work that is done at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace llmb::report {

class ProgressLine {
 public:
  // `total`: how many there are of `things`, a literal. Draws from a thread of its own, if stderr
  // is a terminal.
  explicit ProgressLine(std::size_t total, const char* things = "logs");
  ~ProgressLine();  // removes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Thread-safe.
  void add_bytes(std::uint64_t bytes) { bytes_ += bytes; }
  void add_done(std::size_t count = 1) { done_ += count; }

 private:
  void draw_until_stopped();

  const std::size_t total_;
  const char* const things_;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace llmb::report
