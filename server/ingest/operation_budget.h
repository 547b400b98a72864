// OperationBudget: rations metadata operations on a network file system, whose server is shared
// with the jobs themselves. A token bucket that holds one second's worth.
#pragma once

#include <algorithm>

#include "server/ingest/clock.h"

namespace llmb::ingest {

class OperationBudget {
 public:
  // 0 or less: unlimited.
  OperationBudget(double operations_per_s_max, SteadyTime now)
      : rate_(operations_per_s_max), available_(operations_per_s_max), refilled_at_(now) {}

  // True when an operation may be made now. Spending may overdraw: a directory's cost is known
  // only when it has been read.
  bool allows(SteadyTime now) {
    if (rate_ <= 0) return true;
    const double elapsed_s = std::chrono::duration<double>(now - refilled_at_).count();
    available_ = std::min(rate_, available_ + elapsed_s * rate_);
    refilled_at_ = now;
    return available_ >= 1;
  }
  void spend(double operations) { available_ -= rate_ > 0 ? operations : 0; }

 private:
  double rate_;
  double available_;
  SteadyTime refilled_at_;
};

}  // namespace llmb::ingest
