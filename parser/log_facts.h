// LogFacts: what a log says beside its steps. Grows while the log is read; small whatever the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialect.h"
#include "parser/nccl_use.h"
#include "parser/rank_evidence.h"

namespace llmb::parser {

// A line that says how the run ended. `offset` is where the line begins in the log.
struct LogEvent {
  enum class Kind { finish_marker, failure };
  Kind kind = Kind::failure;
  std::string cause;  // short snake_case class: "time_limit", "cuda_oom", "training_done", …
  std::string line;   // the line as printed, cleaned, at most 500 bytes
  std::uint64_t offset = 0;
  // How many steps had been read when it came: tells a failure before from one after the data.
  std::int64_t steps_before = 0;
  std::optional<std::int64_t> rank = {};  // that printed the line, where the line says so
  std::string operation = {};             // the collective that timed out: "ALLREDUCE"

  bool operator==(const LogEvent&) const = default;
};

// The cause of a finish marker: MLPerf's benchmark ended by itself, and short of its target.
inline constexpr std::string_view kRunAborted = "run_aborted";

// One pass over the iterations: a new one begins when an iteration does not follow the last.
struct SegmentFacts {
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::int64_t step_count = 0;
  // Whose loss is NaN or infinite, or whose grad norm is NaN and the steps behind it not finite.
  std::int64_t nan_step_count = 0;
  std::optional<std::int64_t> first_nan_iteration;
  std::uint64_t first_offset = 0;
  std::int32_t segment = 0;  // StepSample::segment of its steps

  bool operator==(const SegmentFacts&) const = default;
};

// A line that tells of a checkpoint. One save may be several: it begins, its blocking part ends
// (with a duration), and it is finished, which an asynchronous one is later.
struct CheckpointEvent {
  enum class Kind { save_begun, save, save_finished, load };
  Kind kind = Kind::save;
  std::optional<std::int64_t> iteration;  // as printed; NeMo's load lines have none
  std::optional<double> duration_s;
  std::optional<std::int64_t> rank;  // where every rank prints the line, that of the slowest
  std::uint64_t offset = 0;          // where the line begins in the log

  bool operator==(const CheckpointEvent&) const = default;
};

inline constexpr std::size_t kCheckpointsMax = 128;

std::string_view checkpoint_kind_name(CheckpointEvent::Kind kind);  // "save_begun", "save", …
std::optional<CheckpointEvent::Kind> checkpoint_kind_from_name(std::string_view name);

// What a line of the log states of the run's configuration; keys as in RunConfiguration.
struct StatedValue {
  std::string key;
  std::string value;

  bool operator==(const StatedValue&) const = default;
};

inline constexpr std::size_t kSegmentsMax = 256;

struct LogFacts {
  Dialect dialect = Dialect::unknown;
  // The last iteration the run means to reach, in the dialect's numbering (NeMo's T of i/T,
  // Megatron's N); nothing where the log does not say.
  std::optional<std::int64_t> declared_last_iteration;
  // "TFLOPs per sec per GPU=…" at the end of a NeMo 1 run: one figure for the run.
  std::optional<double> reported_tflops_per_gpu;
  // In the order of their numbers, StepSample::segment, which begin at 0. Of a log that restarts
  // more often than kSegmentsMax, the first ones and the newest: what lies between is in the
  // samples only.
  std::vector<SegmentFacts> segments;
  // First failure, first finish marker, and up to 22 further ones, in the order of the log. Of one
  // cause the first, and the first since the newest step are kept: a thousand ranks may print the
  // same line.
  std::vector<LogEvent> events;
  // In the order of the log, each key once: the first statement stays. Stored as the run's
  // configuration (ConfigSource::log_content), not as a fact.
  std::vector<StatedValue> stated;
  bool nccl_trace_seen = false;  // "NCCL INFO <operation>: opCount" lines
  NcclTrace nccl;                // what they amount to
  RankEvidence ranks;            // what the log's own instruments say of them
  // In the order of the log: the first 16, and the newest.
  std::vector<CheckpointEvent> checkpoints;
  std::int64_t checkpoint_count = 0;  // those left out included

  std::uint64_t bytes_read = 0;
  std::int64_t lines_too_long = 0;        // over 1 MiB: dropped
  std::int64_t lines_not_understood = 0;  // looked like a step, could not be read as one

  bool operator==(const LogFacts&) const = default;
};

}  // namespace llmb::parser
