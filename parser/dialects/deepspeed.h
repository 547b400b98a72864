// DeepSpeed, by the lines of its engines (deepspeed/utils/timer.py, runtime/pipe/engine.py):
//   "[2026-03-07 15:27:02,646] [INFO] [timer.py:264:stop] epoch=0/micro_step=40/global_step=10,
//    RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=25.7, MemAllocated=4.32GB, …"
//   "steps: 10 loss: 5.55 iter time (s): 0.936 samples/sec: 136.7"
// from 1, one in steps_per_print steps. The second's time is the mean of its interval. The first
// has rates only: of the printed step, from which its time follows where the engine has printed
// its train_batch_size. Programs that train by way of DeepSpeed print lines of their own, which
// then count instead of these.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/held_steps.h"

namespace llmb::parser {

class DeepspeedReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::deepspeed; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void finish(StepLedger& ledger) override { steps_.release(ledger); }
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void read_rates(const Record& record, StepLedger& ledger);
  void read_time(const Record& record, StepLedger& ledger);
  void read_learning_rate(std::string_view text, StepLedger& ledger);
  void add(StepSample sample, StepLedger& ledger);

  // Both kinds of engine print, and Megatron's line may come after ten of theirs.
  HeldSteps steps_{12};
  std::optional<std::int64_t> train_batch_size_;
  // Printed before the step's own line.
  std::optional<std::int64_t> learning_rate_step_;
  std::optional<double> learning_rate_;
};

}  // namespace llmb::parser
