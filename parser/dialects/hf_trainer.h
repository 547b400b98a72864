// Hugging Face Trainer (transformers, trainer.py and trainer_callback.py) and what is built on it
// (TRL, LLaMA-Factory, ms-swift): "{'loss': 1.3114, 'grad_norm': 1.04, 'learning_rate': 6.6e-05,
// 'epoch': 0.22}" once in logging_steps, values in quotes since version 5; from 1. The line has
// neither a step nor a time. Both are those of the progress bar before it, "  5%|▌     | 10/200
// [00:23<07:16,  2.31s/it]", whose time of a step is smoothed over the newest ones; ms-swift prints
// the step itself. Where the two streams are not interleaved as they were written (no bar between
// two such lines from the beginning), the bars tell nothing: steps are numbered by position.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class HfTrainerReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::hf_trainer; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void finish(StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  enum class Numbering { unknown, by_bar, by_position };
  struct Bar {
    std::int64_t step = 0;
    std::int64_t total = 0;
    std::optional<double> step_time_s;
    double resolution_s = 0;
  };

  void read_bar(std::string_view text, StepLedger& ledger);
  void read_metrics(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  void place(StepSample sample, StepLedger& ledger);
  void add_by_bar(StepSample sample, StepLedger& ledger);
  void add_by_position(StepSample sample, StepLedger& ledger);

  Numbering numbering_ = Numbering::unknown;
  std::optional<Bar> bar_;      // the newest of the training's bar, or of any before it is known
  bool bar_is_new_ = false;     // since the newest metrics
  std::int64_t bar_total_ = 0;  // of the training's bar; 0: not known yet
  // The first metrics, until what follows tells how to number them.
  std::optional<StepSample> waiting_;
};

}  // namespace llmb::parser
