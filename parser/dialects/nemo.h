// NeMo 2's progress printer: "Training epoch 0, iteration 3/49 | lr: … | train_step_timing in s:
// …". Validation, sanity checking and testing lines look alike and are not steps.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class NemoReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::nemo; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void read_one(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  std::int64_t iteration_of(const StepSample& sample, std::int64_t printed,
                            const StepLedger& ledger);

  // For logs whose lines lack global_step: what to add to the printed iteration in this epoch.
  std::int32_t epoch_ = 0;
  std::int64_t epoch_base_ = 0;
};

}  // namespace llmb::parser
