// verl, by its console logger (verl/utils/logger/aggregate_logger.py): one line a step, "step:12 -
// actor/pg_loss:-0.01 - … - perf/time_per_step:48.7 - perf/throughput:3283.3", from 1, with all
// digits; its supervised trainer prints train/loss and train/time(s) in the same form. The line of
// step 0 is a validation. Throughput is in tokens per second and GPU ("tps" here). The step's
// time has all of its phases; the phases (timing_s/…) become extra fields.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class VerlReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::verl; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
};

}  // namespace llmb::parser
