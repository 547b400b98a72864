// StopSignals: SIGINT and SIGTERM, taken from all threads that begin later, and asked for instead.
#pragma once

#include <chrono>
#include <csignal>

namespace llmb::cli {

// One at a time, made before any thread is.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~StopSignals() { restore(); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that came within `limit`; 0 for none.
  int wait(std::chrono::milliseconds limit) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
    const timespec timeout{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
    const int signal = sigtimedwait(&signals_, nullptr, &timeout);
    return signal > 0 ? signal : 0;
  }

  // From now on signals do what they did before: a second Ctrl-C ends a stop that takes too long.
  void restore() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace llmb::cli
