// StepSample: one logged training step, in SI units, whichever program printed it.
// The field names are also the column names, the JSON keys and the chart's series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmb::parser {

// An extra field of 1: the step was done, and its producer prints no time of it (MaxText while its
// profiler starts or stops).
inline constexpr std::string_view kTimeIsHidden = "time_is_hidden";

// An extra field of 1: the step's time is computed from a rate that its line prints (torchtitan,
// and some lines of DeepSpeed and MLPerf).
inline constexpr std::string_view kTimeIsFromRate = "time_is_from_rate";

struct StepSample {
  // Which pass over the iterations this is: 0, then one more for every restart inside one log.
  std::int32_t segment = 0;
  // The step's number in its dialect's own numbering (NeMo counts from 0, Megatron from 1). NeMo
  // prints an iteration that begins again with every epoch; from the second epoch on this is the
  // global step instead. Strictly rising within a segment.
  std::int64_t iteration = 0;
  // False where the producer printed no number, and the step's position in the log stands for it.
  bool iteration_is_logged = true;
  std::optional<std::int32_t> epoch;
  std::optional<std::int64_t> global_step;

  // Wall-clock seconds of the step; nothing where the producer logs no timing.
  std::optional<double> step_time_s;
  // Half of the last printed digit of step_time_s, in seconds: what rounding alone can explain.
  double step_time_resolution_s = 0;
  // Model FLOP/s per GPU in units of 1e12, as the producer computed it.
  std::optional<double> tflops_per_gpu;
  std::optional<double> loss;
  std::optional<double> learning_rate;
  std::optional<double> grad_norm;
  std::optional<double> params_norm;
  std::optional<double> loss_scale;
  std::optional<std::int64_t> consumed_samples;
  std::optional<std::int64_t> global_batch_size;
  std::optional<std::int64_t> skipped_iterations;
  std::optional<std::int64_t> nan_iterations;
  std::optional<double> memory_bytes_max;        // peak or maximum reserved, as logged
  std::optional<double> memory_bytes_allocated;  // allocated at that moment, or its maximum
  // As printed, in the cluster's local time: "2025-12-22T15:18:33", fraction kept where there is
  // one. Empty where the line has no date.
  std::string logged_at;

  // Every other `name: value` of the line, by its own name, in the order of the line.
  std::vector<std::pair<std::string, double>> extra_fields;

  // Where the line that gave step_time_s (or, without it, the iteration) begins in the log.
  std::uint64_t byte_offset = 0;

  bool operator==(const StepSample&) const = default;
};

}  // namespace llmb::parser
