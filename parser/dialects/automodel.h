// NeMo Automodel (nemo_automodel/recipes/llm/train_ft.py): "2026-03-16 03:15:19 | INFO | __main__ |
// step 10 | epoch 0 | loss 2.1034 | grad_norm 1.2500 | lr 1.00e-05 | mem 20.12 GiB | tps
// 12345.67(1543.21/gpu) | num_label_tokens 8192", from 0. There is no step time, and none follows:
// the tokens that tps counts are not printed. The rate of one GPU is "tps" here, as torchtitan's.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class AutomodelReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::automodel; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
};

}  // namespace llmb::parser
