// WatchPlan: which directories have an inotify watch where there are more directories than watches:
// those that were active last. Decides only; DirectoryWatch makes and removes the watches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "server/ingest/file_table.h"

namespace llmb::ingest {

// How many watches all roots together may still make. Thread-safe.
class WatchAllowance {
 public:
  explicit WatchAllowance(std::size_t watches_max)
      : left_(static_cast<std::int64_t>(watches_max)) {}
  bool take();
  void give_back() { ++left_; }

 private:
  std::atomic<std::int64_t> left_;
};

class WatchPlan {
 public:
  explicit WatchPlan(std::shared_ptr<WatchAllowance> allowance)
      : allowance_(std::move(allowance)) {}
  ~WatchPlan() { clear(); }
  WatchPlan(const WatchPlan&) = delete;
  WatchPlan& operator=(const WatchPlan&) = delete;

  struct Choice {
    bool is_chosen = false;                 // it has a watch, or is to get one now
    std::optional<DirectoryIndex> evicted;  // loses its watch for it
  };
  // A directory was active at that time; a later time replaces an earlier one.
  Choice offer(DirectoryIndex directory, std::int64_t active_at_ns);
  // That of a directory that has a watch, earlier than it was or later.
  void set(DirectoryIndex directory, std::int64_t active_at_ns);
  // Whether one that has none, and was active at that time, would take the watch of another.
  bool would_evict_for(std::int64_t active_at_ns) const;
  // It has lost its watch, or could not be given one.
  void remove(DirectoryIndex directory);
  // The kernel refused one more watch: from now on there are as many as there are now.
  void stop_growing() { may_grow_ = false; }
  void clear();
  std::size_t size() const { return active_at_.size(); }

 private:
  std::shared_ptr<WatchAllowance> allowance_;
  bool may_grow_ = true;
  std::set<std::pair<std::int64_t, DirectoryIndex>> by_activity_;
  std::unordered_map<DirectoryIndex, std::int64_t> active_at_;
};

// How many of `limit` watches are taken where nobody says: a quarter is left to the user's other
// programs, but no more of them than those would want.
std::size_t watches_of_limit(std::size_t limit);
// Of the watches that the kernel allows this user.
std::size_t default_watches_max();

struct WatchUse {
  std::size_t watches = 0;
  std::size_t directories = 0;
  double checks_share = 0;  // of a core, that asking about the directories without one takes
};
// What whoever runs the machine can do where that takes more than three hundredths; else nothing.
std::optional<std::string> advice_on_watches(const WatchUse& use);

}  // namespace llmb::ingest
