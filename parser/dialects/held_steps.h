// HeldSteps: steps of a dialect whose lines also stand in the logs of other programs (DeepSpeed's
// below Megatron's, MLPerf's beside NeMo's). The first reader that adds a step to the ledger gets
// the log, so these wait until `limit` of them came, or the log is at its end: by then the other
// program's reader has found a step, where there is one.
#pragma once

#include <cstddef>
#include <vector>

#include "parser/dialects/state_text.h"
#include "parser/dialects/step_ledger.h"

namespace llmb::parser {

class HeldSteps {
 public:
  explicit HeldSteps(std::size_t limit) : limit_(limit) {}

  void add(StepSample sample, StepLedger& ledger);

  // The newest step, held or not; null before the first.
  const StepSample* newest(const StepLedger& ledger) const;
  // That step again, with more fields. There has to be one.
  void amend_newest(StepSample sample, StepLedger& ledger);

  // None waits any longer, from now on.
  void release(StepLedger& ledger);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  std::size_t limit_;
  bool is_released_ = false;
  std::vector<StepSample> held_;
};

}  // namespace llmb::parser
