#include "server/http/connection_table.h"

#include <sys/socket.h>

#include <utility>

namespace llmb::http {

ConnectionTable::Entry::Entry(ConnectionTable& table, int descriptor)
    : table_(table),
      descriptor_(descriptor),
      deadline_(Clock::time_point::max().time_since_epoch().count()) {
  const std::lock_guard lock(table_.mutex_);
  position_ = table_.entries_.insert(table_.entries_.end(), this);
  ++table_.size_;
}

ConnectionTable::Entry::~Entry() {
  const std::lock_guard lock(table_.mutex_);
  table_.entries_.erase(position_);
  --table_.size_;
}

void ConnectionTable::Entry::enter(Phase phase, Clock::time_point deadline) {
  phase_.store(phase, std::memory_order_relaxed);
  deadline_.store(deadline.time_since_epoch().count(), std::memory_order_release);
}

void ConnectionTable::Entry::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(table_.mutex_);
  wake_ = std::move(wake);
}

void ConnectionTable::Entry::reset_when_closed() {
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

void ConnectionTable::Entry::cut(Phase phase) {
  is_overdue_.store(true, std::memory_order_relaxed);
  // Else the kernel would keep what the client does not take for minutes after the close.
  if (phase == Phase::writing) reset_when_closed();
  ::shutdown(descriptor_, phase == Phase::reading ? SHUT_RD : SHUT_RDWR);
}

void ConnectionTable::sweep(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (Entry* entry : entries_) {
    if (entry->deadline_.load(std::memory_order_acquire) > now.time_since_epoch().count() ||
        entry->is_overdue()) {
      continue;
    }
    const Phase phase = entry->phase_.load(std::memory_order_relaxed);
    if (phase == Phase::reading || phase == Phase::writing) ++deadlines_missed_;
    entry->cut(phase);
  }
}

void ConnectionTable::stop_waiting() {
  const std::lock_guard lock(mutex_);
  for (Entry* entry : entries_) {
    const Phase phase = entry->phase_.load(std::memory_order_relaxed);
    if (entry->wake_) entry->wake_();
    if (phase == Phase::idle || phase == Phase::reading || phase == Phase::closing) {
      ::shutdown(entry->descriptor_, SHUT_RDWR);
    }
  }
}

void ConnectionTable::cut_all() {
  const std::lock_guard lock(mutex_);
  for (Entry* entry : entries_) entry->cut(Phase::writing);
}

std::size_t ConnectionTable::size() const {
  return size_.load(std::memory_order_relaxed);
}

}  // namespace llmb::http
