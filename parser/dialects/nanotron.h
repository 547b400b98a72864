// nanotron (src/nanotron/trainer.py, logging/base.py): "[default0]:03/05/2026 17:04:05
// [INFO|DP=0|PP=0|TP=0|node]: iteration: 10 / 15 | consumed_tokens: 10.5M | time_per_iteration_ms:
// 1.2K | … | lm_loss: 10.9 | … | model_tflops_per_gpu: 412", from 1. Three digits of each number
// are printed, a thousand as 1K: a step time is known to half a percent.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class NanotronReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::nanotron; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
};

}  // namespace llmb::parser
