// NeMo 1 and NeMo 2 of 2024: the tqdm bar ("Epoch 0: :   5%|▌ | 1/20 [00:44<14:12,
// global_step=0.000, train_step_timing in s=44.90]"), the DLLogger line that is often glued behind
// it, and the figures at the end of the run. The bar shows each step twice, first with the values
// of the step before, and prints 3 significant digits; the DLLogger line has all of them and
// completes the same step.
//
// train_step_timing may be the mean of the last k steps (the producer's buffer): kept as logged.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class NemoProgressBarReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::nemo_progress_bar; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void read_bar(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  void read_dllogger(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  void read_delta_timing(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  std::optional<std::int64_t> step_of_bar(const struct BarPosition& bar, double printed_step,
                                          std::string_view printed);

  bool bar_seen_ = false;
  // The bar's n when it last showed values, and global_step - n when n's own values were shown:
  // tells the step where the bar prints it as "2e+3".
  std::optional<std::int64_t> bar_count_;
  std::optional<std::int64_t> step_minus_count_;
  bool counts_come_twice_ = false;  // the bar prints each count again, with its own values
  // The newest step has values of full precision, which the bar's must not replace.
  bool newest_is_precise_ = false;
};

}  // namespace llmb::parser
