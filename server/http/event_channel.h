// EventChannel: server-sent events from any thread to every connected browser.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace llmb::http {

struct Event {
  std::uint64_t id = 0;  // rises by one
  std::string name;
  std::string data;  // one line of JSON
  std::chrono::steady_clock::time_point published_at;
};

// Thread-safe. Keeps the last 1,024 events, so that a client which comes back with Last-Event-ID
// misses nothing that is still there; a client further behind gets a "reset" event.
class EventChannel {
 public:
  static constexpr std::size_t kKeptEvents = 1024;

  // Ids start at the microseconds of the clock, so that a client of an earlier run of the program
  // is told to reset instead of being taken for one that is up to date.
  EventChannel();
  explicit EventChannel(std::uint64_t last_id);

  void publish(std::string name, std::string data);

  // Events after `last_id`. `was_reset` says that some were lost to the bound, or that `last_id`
  // is not of this channel: all kept events follow, and the client must load everything anew.
  std::vector<Event> events_after(std::uint64_t last_id, bool& was_reset) const;
  std::uint64_t last_id() const;
  // Where a client begins that wants what was published since `time`. An id that is not of this
  // channel where not all of that is kept.
  std::uint64_t last_id_before(std::chrono::steady_clock::time_point time) const;

  // `wake` is called, from the publishing thread, after every publish until unsubscribed; never
  // after unsubscribe() has returned. It must not wait, nor call the channel.
  std::uint64_t subscribe(std::function<void()> wake);
  void unsubscribe(std::uint64_t subscription);
  std::size_t subscriber_count() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::uint64_t last_id_ = 0;
  std::uint64_t next_subscription_ = 1;
  std::map<std::uint64_t, std::function<void()>> subscribers_;
};

}  // namespace llmb::http
