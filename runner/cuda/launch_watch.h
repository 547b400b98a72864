// LaunchWatch: who has calls in a graph that nobody sees when it is launched: the collectives'
// watchdog. Real sources only.
#pragma once

#include <memory>

#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // Around each launch of the graph, on the launching thread.
  virtual void begin_launch(kernels::Stream stream) = 0;
  virtual void end_launch(kernels::Stream stream) = 0;
};

// Of the graph that this thread captures; once for each watch, however often it is said.
void watch_launches(const std::shared_ptr<LaunchWatch>& watch);

}  // namespace llmb::runner::cuda
