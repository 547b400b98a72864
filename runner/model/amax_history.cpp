#include "runner/model/amax_history.h"

#include <algorithm>
#include <utility>

namespace llmb::runner {

void AmaxHistory::end_step(double step_max) {
  if (past_.size() < kLength) {
    past_.push_back(step_max);
  } else {
    past_[next_] = step_max;
    next_ = (next_ + 1) % kLength;
  }
  scaling_max_ = *std::max_element(past_.begin(), past_.end());
}

std::vector<double> AmaxHistory::past() const {
  std::vector<double> steps = past_;
  std::rotate(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(next_), steps.end());
  return steps;
}

void AmaxHistory::restore(std::vector<double> past) {
  if (past.size() > kLength) {
    past.erase(past.begin(), past.end() - static_cast<std::ptrdiff_t>(kLength));
  }
  past_ = std::move(past);
  next_ = 0;
  scaling_max_ = past_.empty() ? 0 : *std::max_element(past_.begin(), past_.end());
}

}  // namespace llmb::runner
