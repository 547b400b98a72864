// MaxText: "completed step: N, seconds: 5.668, TFLOP/s/device: 134.911, Tokens/s/device: …, loss:
// …", from 0. Steps are dispatched asynchronously, so the times of the first few mean little.
#pragma once

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class MaxtextReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::maxtext; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
};

}  // namespace llmb::parser
