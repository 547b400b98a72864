// NeMo Automodel (nemo_automodel/recipes/llm/train_ft.py): "2026-03-16 03:15:19 | INFO | __main__ |
// step 10 | epoch 0 | loss 2.1034 | grad_norm 1.2500 | lr 1.00e-05 | mem 20.12 GiB | tps
// 12345.67(1543.21/gpu) | num_label_tokens 8192", from 0. There is no step time, and none follows:
// the tokens that tps counts are not printed. The rate of one GPU is "tps" here, as torchtitan's.
// Its benchmark (recipes/llm/benchmark.py) prints times, a step in three lines: "Rank 0 | Iteration
// 10 | num_label_tokens=8192 | Max Memory Allocated: 20.12 GB | loss=2.1034", "Max iter time:
// 2.654321 seconds", "MFU: 41.2%" (here as a fraction).
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class AutomodelReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::automodel; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;

 private:
  static void read_training(const Record& record, StepLedger& ledger);
  static void read_benchmark(const Record& record, StepLedger& ledger);
  static void read_benchmark_figure(std::string_view text, StepLedger& ledger);
};

}  // namespace llmb::parser
