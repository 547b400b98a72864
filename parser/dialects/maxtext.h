// MaxText: "completed step: N, seconds: 5.668, TFLOP/s/device: 134.911, Tokens/s/device: …, loss:
// …", from 0. Steps are dispatched asynchronously, so the times of the first few mean little. Every
// process may print the line: one sample a step, that of the first. Where its profiler starts or
// stops, the line has no time: the step is one all the same.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "parser/dialects/dialect.h"

namespace llmb::parser {

class MaxtextReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::maxtext; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void read_one(std::string_view text, std::uint64_t offset, bool is_profiler_line,
                StepLedger& ledger);
  bool is_another_process(std::int64_t step, const StepLedger& ledger);

  // The newest steps, and how often each was printed, or was after others went on, as slow
  // processes print theirs.
  struct PrintedStep {
    std::int64_t step = 0;
    std::int64_t prints = 0;
    std::int64_t late_prints = 0;  // of those
  };
  bool may_be_late(const PrintedStep& recent) const;

  std::deque<PrintedStep> recent_;
  std::int64_t processes_ = 1;  // the most prints of one step so far
};

}  // namespace llmb::parser
