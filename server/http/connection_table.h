// ConnectionTable: every open connection, what it is doing, and until when it may. One sweep a
// tick replaces a timer per operation. A connection is cut with shutdown(2), which any thread may
// call and which ends whatever the connection waits for. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace llmb::http {

class ConnectionTable {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Phase : std::uint8_t {
    idle,      // between messages
    reading,   // a message has begun
    handling,  // the handler runs: no deadline
    writing,
    streaming,  // an event stream that waits for events: no deadline
    closing,    // what the client still sends is thrown away
  };

  // One open connection; unlisted when it ends, which must be before its socket is closed.
  class Entry {
   public:
    Entry(ConnectionTable& table, int descriptor);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    void enter(Phase phase, Clock::time_point deadline);
    void enter(Phase phase) { enter(phase, Clock::time_point::max()); }
    // The deadline passed. While reading, only the receiving side was shut, so that the client
    // can still be told.
    bool is_overdue() const { return is_overdue_.load(std::memory_order_relaxed); }
    // Called by stop_waiting(), from its thread, as long as the entry is streaming. Null: nobody.
    void set_wake(std::function<void()> wake);
    // Closing the connection resets it, and what was not sent is forgotten.
    void reset_when_closed();

   private:
    friend class ConnectionTable;
    void cut(Phase phase);

    ConnectionTable& table_;
    const int descriptor_;
    std::atomic<Phase> phase_ = Phase::idle;
    std::atomic<bool> is_overdue_ = false;
    std::atomic<Clock::rep> deadline_;
    std::function<void()> wake_;
    std::list<Entry*>::iterator position_;
  };

  // Cuts what is past its deadline.
  void sweep(Clock::time_point now);
  // Cuts the connections that wait for their client and wakes the event streams; what is being
  // answered goes on.
  void stop_waiting();
  void cut_all();

  std::size_t size() const;
  std::uint64_t deadlines_missed() const { return deadlines_missed_; }

 private:
  mutable std::mutex mutex_;
  std::list<Entry*> entries_;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::uint64_t> deadlines_missed_ = 0;
};

}  // namespace llmb::http
