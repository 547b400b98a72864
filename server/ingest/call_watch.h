// CallWatch: tells other threads since when a thread has been in one call into a file system. A
// mount whose server is gone blocks such a call for as long as it likes, and its thread cannot say
// so itself. On the real clock: this is about our threads, not about the logs.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "server/ingest/clock.h"

namespace llmb::ingest {

class CallWatch {
 public:
  // The watched thread: a call begins now, and what was begun before has come back.
  void begin_call() { since_.store(now().time_since_epoch().count(), std::memory_order_relaxed); }
  // It is in no call that could block.
  void rest() { since_.store(kResting, std::memory_order_relaxed); }

  // Any thread: for how long the call has not come back; nothing while there is none.
  std::optional<SteadyTime::duration> in_call_for() const {
    const SteadyTime::rep since = since_.load(std::memory_order_relaxed);
    if (since == kResting) return std::nullopt;
    return now() - SteadyTime(SteadyTime::duration(since));
  }

 private:
  static SteadyTime now() { return std::chrono::steady_clock::now(); }
  static constexpr SteadyTime::rep kResting = -1;
  std::atomic<SteadyTime::rep> since_ = kResting;
};

// Rests when it goes out of scope, however that comes.
class WatchedCall {
 public:
  explicit WatchedCall(CallWatch& watch) : watch_(watch) { watch_.begin_call(); }
  ~WatchedCall() { watch_.rest(); }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

 private:
  CallWatch& watch_;
};

}  // namespace llmb::ingest
