// StepTimer: rank 0's wall clock between the ends of steps, each of which all ranks have reached.
#pragma once

#include <chrono>

namespace llmb::runner {

class StepTimer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StepTimer(Clock::time_point begun = Clock::now()) : last_end_(begun) {}

  // Seconds since the last end, or since the timer was made.
  double end_step(Clock::time_point now = Clock::now()) {
    const double step_time_s = std::chrono::duration<double>(now - last_end_).count();
    last_end_ = now;
    return step_time_s;
  }

  // What comes between steps (a checkpoint) is no part of the next one.
  void begin_step(Clock::time_point now = Clock::now()) { last_end_ = now; }

 private:
  Clock::time_point last_end_;
};

}  // namespace llmb::runner
