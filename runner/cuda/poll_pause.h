// How a thread waits that asks a library again and again how far it is. Most answers come in tens
// of microseconds, thousands of times a step: a sleep before the first look would cost each of them
// more than the call takes.
#pragma once

#include <chrono>

namespace llmb::runner::cuda {

// To sleep before the next look, so long after the first one. None: only to let other threads run.
constexpr std::chrono::microseconds pause_after(std::chrono::steady_clock::duration waited) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  if (waited < microseconds(500)) return microseconds(0);
  return waited < milliseconds(20) ? microseconds(50) : milliseconds(1);
}

}  // namespace llmb::runner::cuda
