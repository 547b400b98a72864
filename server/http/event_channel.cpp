#include "server/http/event_channel.h"

#include <algorithm>

namespace llmb::http {

EventChannel::EventChannel()
    : EventChannel(
          static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                         std::chrono::system_clock::now().time_since_epoch())
                                         .count())) {}

EventChannel::EventChannel(std::uint64_t last_id) : last_id_(last_id) {}

void EventChannel::publish(std::string name, std::string data) {
  const std::lock_guard lock(mutex_);
  events_.push_back(
      {++last_id_, std::move(name), std::move(data), std::chrono::steady_clock::now()});
  if (events_.size() > kKeptEvents) events_.pop_front();
  // Under the lock, so that a subscriber is gone for good once unsubscribe() returns.
  for (const auto& [subscription, wake] : subscribers_) wake();
}

std::vector<Event> EventChannel::events_after(std::uint64_t last_id, bool& was_reset) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id_before_kept = last_id_ - events_.size();
  was_reset = last_id < id_before_kept || last_id > last_id_;
  const auto skipped = was_reset ? 0 : static_cast<std::ptrdiff_t>(last_id - id_before_kept);
  return {events_.begin() + skipped, events_.end()};
}

std::uint64_t EventChannel::last_id() const {
  const std::lock_guard lock(mutex_);
  return last_id_;
}

std::uint64_t EventChannel::last_id_before(std::chrono::steady_clock::time_point time) const {
  const std::lock_guard lock(mutex_);
  const auto first = std::find_if(events_.begin(), events_.end(),
                                  [&](const Event& event) { return event.published_at >= time; });
  const std::uint64_t id = last_id_ - static_cast<std::uint64_t>(events_.end() - first);
  const bool may_lack_some = first == events_.begin() && events_.size() == kKeptEvents;
  return may_lack_some ? id - 1 : id;
}

std::uint64_t EventChannel::subscribe(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  subscribers_.emplace(next_subscription_, std::move(wake));
  return next_subscription_++;
}

void EventChannel::unsubscribe(std::uint64_t subscription) {
  const std::lock_guard lock(mutex_);
  subscribers_.erase(subscription);
}

std::size_t EventChannel::subscriber_count() const {
  const std::lock_guard lock(mutex_);
  return subscribers_.size();
}

}  // namespace llmb::http
