// PassKey: by what a stage's pass is known again, so that a backend may repeat what it did before.
#pragma once

#include <cstdint>
#include <vector>

namespace llmb::runner {

// Two passes of one stage and direction with equal keys do the same, if the memory that they take
// and give back meanwhile is free both times.
struct PassKey {
  std::int64_t state = 0;           // the number of what a micro-batch keeps between its passes
  double loss_scale = 0;            // which kernels are given as a number
  std::vector<const void*> places;  // of what else is read and written, and may lie elsewhere

  friend bool operator==(const PassKey&, const PassKey&) = default;
};

}  // namespace llmb::runner
