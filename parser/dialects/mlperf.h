// MLPerf (mlcommons/logging, mlperf_logging/mllog): ":::MLLOG {"namespace": "", "time_ms":
// 1760033997670, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value":
// {"train_step_time": 0.3356, …}, "metadata": {…, "step": 31}}". Submissions print tracked_stats
// once a logging or an evaluation interval: a step time, or samples per second, from which it
// follows with the "global_batch_size" printed before. Where only samples are counted
// ("samples_count", or a "step" beside samples per second), the step is that count by the batch.
// Where the submission's own step lines are in the log too, these count instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/held_steps.h"

namespace llmb::parser {

class MlperfReader final : public DialectReader {
 public:
  Dialect dialect() const override { return Dialect::mlperf; }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void finish(StepLedger& ledger) override { steps_.release(ledger); }
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  void read_statistics(std::string_view text, std::uint64_t offset, StepLedger& ledger);
  std::optional<std::int64_t> step_of(std::string_view text, bool has_samples_rate) const;

  HeldSteps steps_{4};
  std::optional<std::int64_t> global_batch_size_;
};

}  // namespace llmb::parser
