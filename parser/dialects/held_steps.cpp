#include "parser/dialects/held_steps.h"

#include <utility>

namespace llmb::parser {

void HeldSteps::add(StepSample sample, StepLedger& ledger) {
  if (is_released_) {
    ledger.add(std::move(sample));
    return;
  }
  held_.push_back(std::move(sample));
  if (held_.size() >= limit_) release(ledger);
}

const StepSample* HeldSteps::newest(const StepLedger& ledger) const {
  if (!is_released_) return held_.empty() ? nullptr : &held_.back();
  return ledger.newest() ? &*ledger.newest() : nullptr;
}

void HeldSteps::amend_newest(StepSample sample, StepLedger& ledger) {
  if (is_released_) {
    ledger.amend_newest(std::move(sample));
  } else {
    held_.back() = std::move(sample);
  }
}

void HeldSteps::release(StepLedger& ledger) {
  is_released_ = true;
  for (StepSample& sample : held_) ledger.add(std::move(sample));
  held_.clear();
}

void HeldSteps::save(StateWriter& state) const {
  state.boolean(is_released_);
  state.unsigned_integer(held_.size());
  for (const StepSample& sample : held_) state.sample(sample);
}

void HeldSteps::restore(StateReader& state) {
  is_released_ = state.boolean();
  held_.resize(state.count(limit_));
  for (StepSample& sample : held_) sample = state.sample();
}

}  // namespace llmb::parser
