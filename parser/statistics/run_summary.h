// RunSummary: what one log amounts to over a Window, and whether it may be believed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/foundation/instant.h"
#include "parser/log_facts.h"
#include "parser/statistics/window_statistics.h"
#include "parser/step_interruption.h"
#include "parser/step_sample.h"
#include "parser/window.h"

namespace llmb::parser {

enum class RunStatus {
  running,     // still growing, or grown lately
  complete,    // the whole window with step times, and the true last iteration
  incomplete,  // ended, without a failure line, before it was complete
  failed,      // a failure line explains why it is not complete
  invalid,  // NaN or infinite loss in the segment that counts, or a gradient norm that is NaN for
            // longer than steps are skipped, or not finite in most steps of the window
  no_data,  // no step in the log (or none with a step time)
};

std::string_view run_status_name(RunStatus status);
std::optional<RunStatus> run_status_from_name(std::string_view name);

struct RunSummary {
  RunStatus status = RunStatus::no_data;
  // One sentence: why this status, with the numbers that show it. Never empty.
  std::string status_reason;
  Window window;
  // Why it is not complete: the class of the failure that came first (see failure_class.h), "hung"
  // where a log fell silent without a word less than a day ago, also of a running one. Empty for a
  // complete run, and where nothing shows it.
  std::string failure_cause;
  // Of a log that fell silent without a word: for how long it had been when that was found. Of a
  // hung run less than a day.
  std::optional<double> silent_s;
  // The segment that counts: the last one that holds the whole window, else the last one.
  std::int32_t segment = 0;
  std::int32_t segment_count = 0;  // over 1: the log holds restarts
  // True when every iteration of the window has a step time, whatever came later.
  bool window_is_whole = false;
  std::int64_t iterations_missing_in_window = 0;
  // What touches which iterations of the window: "checkpoint: 20; evaluation: 30". Empty: nothing.
  std::string window_interruptions;
  std::int64_t steps_left_out = 0;  // of those: see summarize_run()'s `without`
  // The segment that counts loaded a checkpoint, did one step, and was to do no more: it shows that
  // loading works, and nothing of speed.
  bool is_function_check = false;
  std::optional<std::int64_t> last_iteration;           // reached, in that segment
  std::optional<std::int64_t> declared_last_iteration;  // meant to be reached
  std::optional<WindowStatistics> step_time_s;
  std::optional<WindowStatistics> tflops_per_gpu;
  // The mean of what the log prints; what a recipe makes of the step time is RunMetrics'.
  std::optional<double> printed_tokens_per_s_per_gpu;
  std::optional<double> energy_j_per_gpu_mean;  // of a step, as the log prints it

  bool operator==(const RunSummary&) const = default;
};

// For how long no byte was added, and what to compare it with.
struct Silence {
  double silent_s = 0;
  double step_time_s = 0;  // typical of the log; 0: not known, and nothing is called hung
  std::optional<Instant> since = {};  // for the words; else these say how many days
};

// So many of the newest steps tell how long one takes now.
inline constexpr std::int64_t kTypicalSteps = 20;

// The median of those over 0, or 0 where there is none: the first step and a checkpoint take many
// times as long.
double typical_step_time_s(std::vector<double> times_s);

// `samples`: of one log, ordered by (segment, iteration); those inside the window suffice.
// `may_still_grow`: the log's job may be alive; turns incomplete into running.
// `silence`: where it is known. `without`: steps of the window that one of these touches count as
// done, and not towards the numbers.
RunSummary summarize_run(std::span<const StepSample> samples, const LogFacts& facts,
                         const Window& window, bool may_still_grow,
                         std::optional<Silence> silence = {},
                         const StepInterruptionSet& without = {});

// Of an incomplete one: it shows no failure and reached its declared last iteration. What its
// window lacks was not to be run (five steps under an NCCL trace, 25 under a profiler), or stands
// in no line of this log.
bool has_run_all_steps(const RunSummary& summary);

// nemotron4-25.04, Load Checkpoint: "Training will run for 1 step after checkpoint has been
// loaded."
bool is_function_check(const LogFacts& facts, const SegmentFacts& segment);

// The failure that ended the segment that `summary` is about, first cause first; null where there
// is none. Also for a complete run, whose teardown failed.
const LogEvent* ending_failure(const LogFacts& facts, const RunSummary& summary);

}  // namespace llmb::parser
