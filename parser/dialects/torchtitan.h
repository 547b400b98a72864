// torchtitan: "… - root - INFO - step: 1990  loss:  3.4370  memory: 68.57GiB(86.69%)  tps: 6,785
// mfu: 39.73%", from 1. Every rank of the last stage prints it: one sample a step. There is no step
// time; tokens per second (tps) and MFU (as a fraction) become extra fields.
#pragma once

#include <deque>
#include <string>

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class TorchtitanReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::torchtitan; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  bool is_another_rank(const StepSample& sample, const StepLedger& ledger) const;

  // The last steps: a slow rank may print one after others went on.
  std::deque<std::int64_t> recent_steps_;
  std::string newest_logged_at_;
};

}  // namespace llmb::parser
