// Clock: the time as ingest sees it, so that tests can move it. `steady` orders what ingest does
// next; `wall` is compared with the times that files carry.
#pragma once

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

}  // namespace llmb::ingest
