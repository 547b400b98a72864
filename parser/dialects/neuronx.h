// neuronx-distributed: "step 28 step_time 5.86s throughput 112.7 seq/s loss 12.08 val-loss: None
// current_lr: 4e-06 grad norm 21.875", numbered as printed. All digits are printed: no rounding.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class NeuronxReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::neuronx; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
};

}  // namespace llmb::parser
