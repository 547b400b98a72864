// NeMo-RL (nemo_rl/algorithms/grpo.py, sft.py, …): a step is a block of lines,
//   "===…=== Step 3/100 ===…===", then "• Loss: 0.1234" and "• Avg Reward: 0.4100", "• Training
//   FLOPS: 1.2 TFLOPS (0.3 TFLOPS per rank)", then "• Total step time: 41.20s", then its phases
//   ("• generation: 20.00s (48.5%)") and rates ("- E2E (Tokens/sec/gpu): 1992.83"),
// from 1. The step stands with its total time, and gets the rates when they come. The printed
// number begins again with every epoch: from the second on, the steps before are added. TFLOPS are
// those of the training phase alone.
#pragma once

#include <cstdint>
#include <optional>

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class NemoRlReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::nemo_rl; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void begin_step(std::string_view text);
  void begin_epoch(std::string_view text);
  void read_value(std::string_view text, StepLedger& ledger);
  void finish_step(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  void add_rate(std::string_view text, StepLedger& ledger);

  std::int64_t steps_of_earlier_epochs_ = 0;
  std::int64_t epoch_ = 0;
  // What the block's heading and the lines before its total time said.
  std::optional<std::int64_t> step_;
  std::optional<std::int64_t> last_step_;
  StepSample begun_;
};

}  // namespace llmb::parser
