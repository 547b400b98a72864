// BoundedQueue: hands items from several threads to one, and makes the givers wait when the taker
// is slow. What is pushed for later is taken when nothing else is there, or after so many
// others that it does not wait for ever. Closing it wakes everybody.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace llmb::ingest {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t items_max) : items_max_(items_max) {}

  // Waits while the queue is full. False: it is closed, and the item was not taken.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return is_closed_ || items_.size() < items_max_; });
    if (is_closed_) return false;
    items_.push_back(std::move(item));
    not_empty_.notify_one();
    return true;
  }

  // Never waits. False: it is full or closed, and the item was not taken.
  bool push_where_there_is_room(T item) {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || items_.size() >= items_max_) return false;
    items_.push_back(std::move(item));
    not_empty_.notify_one();
    return true;
  }

  // Never waits, whatever the bound: for those who must not block.
  bool push_at_once(T item) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    items_.push_back(std::move(item));
    not_empty_.notify_one();
    return true;
  }

  // As push_at_once(), behind what is pushed otherwise, now or later, but for a turn now and then.
  bool push_at_once_for_later(T item) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    later_.push_back(std::move(item));
    not_empty_.notify_one();
    return true;
  }

  // Waits for the first item. Nothing: closed, and all that was in it has been taken.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return is_closed_ || has_items(); });
    if (!has_items()) return std::nullopt;
    std::optional<T> item(take_next());
    not_full_.notify_one();
    return item;
  }

  // As pop(), with up to `most` items that are there already; waits no longer than `patience`.
  // Empty: nothing came, or it is closed and all are taken.
  std::vector<T> pop_many(std::size_t most, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    not_empty_.wait_for(lock, patience, [&] { return is_closed_ || has_items(); });
    std::vector<T> taken;
    // From here on nothing can fail, or be lost.
    taken.reserve(std::min(items_.size() + later_.size(), most));
    while (has_items() && taken.size() < most) taken.push_back(take_next());
    not_full_.notify_all();
    return taken;
  }

  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return !has_items();
  }

  // It is closed, and all that was in it has been taken.
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return is_closed_ && !has_items();
  }

  // Nothing can be pushed any more; what is inside can still be taken, unless `discard`.
  void close(bool discard = false) {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    if (discard) {
      items_.clear();
      later_.clear();
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

 private:
  static constexpr int kTurnAfter = 16;

  bool has_items() const { return !items_.empty() || !later_.empty(); }

  // Of items that are there.
  T take_next() {
    const bool is_turn_of_later = !later_.empty() && (items_.empty() || passed_ >= kTurnAfter);
    std::deque<T>& from = is_turn_of_later ? later_ : items_;
    passed_ = is_turn_of_later || later_.empty() ? 0 : passed_ + 1;
    T item(std::move(from.front()));
    from.pop_front();
    return item;
  }

  std::size_t items_max_;
  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::deque<T> items_;
  std::deque<T> later_;
  int passed_ = 0;  // items that were taken while others wait in later_
  bool is_closed_ = false;
};

}  // namespace llmb::ingest
