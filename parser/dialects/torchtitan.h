// torchtitan: "… - root - INFO - step: 1990  loss:  3.4370  memory: 68.57GiB(86.69%)  tps: 6,785
// mfu: 39.73%", from 1. Several ranks may print it: one sample a step, with the loss of the last
// stage. There is no step time; it follows from tokens per second and GPU (tps) where the log's
// first lines say how many tokens a step has, and on how many GPUs. tps and MFU (as a fraction)
// become extra fields.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

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
  void read_setup(std::string_view text, StepLedger& ledger);
  void time_step(StepSample& sample) const;
  bool is_another_rank(const StepSample& sample, const StepLedger& ledger) const;
  static void complete_newest(const StepSample& sample, StepLedger& ledger);

  // The last steps: a slow rank may print one after others went on.
  std::deque<std::int64_t> recent_steps_;
  std::string newest_logged_at_;
  std::optional<std::int64_t> tokens_per_step_;
  std::optional<std::int64_t> gpu_count_;
};

}  // namespace llmb::parser
