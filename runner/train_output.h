// Where a run writes, and how it ends where it has no result.
#pragma once

#include <ostream>
#include <stdexcept>

#include "runner/log_sink.h"

namespace llmb::runner {

// The loss or a gradient is no number: the run has no result.
class NotANumber : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The plan needs more memory than the device of this rank has free, before anything is allocated;
// or the run needs more than was planned, and the device has no more.
class DoesNotFit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where a run writes. `phases` may be null.
struct TrainOutput {
  LogSink& log;
  std::ostream* phases = nullptr;
};

}  // namespace llmb::runner
