// Clock: the time as ingest sees it, so that tests can move it. `steady` orders what ingest does
// next; `wall` is compared with the times that files carry.
#pragma once

#include <algorithm>
#include <chrono>

namespace llmb::ingest {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // Both may be called from any thread.
  virtual SteadyTime steady() const { return std::chrono::steady_clock::now(); }
  virtual WallTime wall() const { return std::chrono::system_clock::now(); }
};

// Before anything that a clock here can say, and near enough to be subtracted from.
inline constexpr SteadyTime kLongAgo{-std::chrono::hours(24 * 365 * 100)};

// When that was on the steady clock; what lies ahead counts as now. A file's time is of its file
// server's clock: good enough for what happened before we looked, and for nothing later.
inline SteadyTime steady_time_of(const Clock& clock, WallTime at) {
  const auto ago = std::max(WallTime::duration(0), clock.wall() - at);
  return clock.steady() - std::chrono::duration_cast<SteadyTime::duration>(ago);
}

inline WallTime wall_time_of(const Clock& clock, SteadyTime at) {
  return clock.wall() - std::chrono::duration_cast<WallTime::duration>(clock.steady() - at);
}

}  // namespace llmb::ingest
