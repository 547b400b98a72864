#include "server/ingest/watch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>

namespace llmb::ingest {
namespace {

constexpr std::size_t kWatchesOfOldKernels = 8'192;
constexpr std::size_t kLeftToOthersMost = 16'384;
constexpr double kMuchOfACore = 0.03;

}  // namespace

bool WatchAllowance::take() {
  if (left_.fetch_sub(1) > 0) return true;
  ++left_;
  return false;
}

WatchPlan::Choice WatchPlan::offer(DirectoryIndex directory, std::int64_t active_at_ns) {
  if (const auto known = active_at_.find(directory); known != active_at_.end()) {
    if (active_at_ns > known->second) set(directory, active_at_ns);
    return {true, std::nullopt};
  }
  Choice choice;
  if (!may_grow_ || !allowance_->take()) {
    if (by_activity_.empty() || by_activity_.begin()->first >= active_at_ns) return choice;
    choice.evicted = by_activity_.begin()->second;
    by_activity_.erase(by_activity_.begin());
    active_at_.erase(*choice.evicted);
  }
  by_activity_.emplace(active_at_ns, directory);
  active_at_.emplace(directory, active_at_ns);
  choice.is_chosen = true;
  return choice;
}

void WatchPlan::set(DirectoryIndex directory, std::int64_t active_at_ns) {
  const auto known = active_at_.find(directory);
  if (known == active_at_.end() || known->second == active_at_ns) return;
  by_activity_.erase({known->second, directory});
  by_activity_.emplace(active_at_ns, directory);
  known->second = active_at_ns;
}

bool WatchPlan::would_evict_for(std::int64_t active_at_ns) const {
  return !by_activity_.empty() && by_activity_.begin()->first < active_at_ns;
}

void WatchPlan::remove(DirectoryIndex directory) {
  const auto known = active_at_.find(directory);
  if (known == active_at_.end()) return;
  by_activity_.erase({known->second, directory});
  active_at_.erase(known);
  allowance_->give_back();
}

void WatchPlan::clear() {
  for (std::size_t i = 0; i < active_at_.size(); ++i) allowance_->give_back();
  by_activity_.clear();
  active_at_.clear();
}

std::size_t watches_of_limit(std::size_t limit) {
  return limit - std::min(limit / 4, kLeftToOthersMost);
}

std::size_t default_watches_max() {
  std::ifstream limit_file("/proc/sys/fs/inotify/max_user_watches");
  std::size_t limit = 0;
  if (!(limit_file >> limit)) limit = kWatchesOfOldKernels;
  return watches_of_limit(limit);
}

std::optional<std::string> advice_on_watches(const WatchUse& use) {
  if (use.checks_share <= kMuchOfACore || use.watches >= use.directories) return std::nullopt;
  const std::size_t limit = std::bit_ceil(use.directories + kLeftToOthersMost);
  return fmt::format(
      "{} of {} folders have an inotify watch, and asking about the others takes {:.0f} % of a "
      "core; `sysctl fs.inotify.max_user_watches={}` and a restart would give each one",
      use.watches, use.directories, use.checks_share * 100, limit);
}

}  // namespace llmb::ingest
