// The sentences of RunSummary::status_reason: what the evidence is, in words and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/foundation/instant.h"
#include "parser/log_facts.h"
#include "parser/statistics/window_coverage.h"
#include "parser/window.h"

namespace llmb::parser {

// A log that is silent for so many step times, and says nothing of an end, is taken for hung; where
// steps are short only after a while in which a checkpoint may be saved, or an evaluation done.
inline constexpr double kHungStepTimes = 20;
inline constexpr double kHungAtLeastS = 120;
// That a log hangs is an alarm: of one that is silent for a day when it is looked at, nobody is
// told in time. Its reason says since when.
inline constexpr double kHungLessThanS = 86'400;

// What is known of the segment that counts when its status is decided. The pointers are into
// LogFacts, or null.
struct StatusEvidence {
  Window window;
  Dialect dialect = Dialect::unknown;
  SegmentFacts segment;
  std::int32_t segment_count = 0;
  WindowCoverage coverage;
  std::optional<std::int64_t> declared_last_iteration;
  const LogEvent* ending_failure = nullptr;          // the first cause after its last step
  const LogEvent* survived_failure = nullptr;        // training went on after it
  const LogEvent* finish_marker = nullptr;           // the program's own end, after the last step
  std::optional<std::int64_t> later_last_iteration;  // the highest that a later segment reached

  std::optional<double> silent_s;  // no byte came for so long, without a cause
  std::optional<Instant> silent_since;
  double step_time_s = 0;  // typical of the log, to compare it with

  // A scheduler or launcher says, after the last step, that processes ended.
  bool end_is_announced = false;
  // No step followed it. Of a log that grows that may be another attempt's, or a rank's that has
  // yet to be ended.
  bool end_is_last = false;

  bool is_silent_for_long() const;
  bool fell_silent_without_a_word() const;
  bool is_hung() const;

  bool last_was_reached() const {
    return declared_last_iteration && segment.last_iteration >= *declared_last_iteration;
  }
};

// In the reason of a complete run, and in a table's row: its steps are as good as any.
inline constexpr std::string_view kRunWasAborted =
    "MLPerf says that the run was aborted, short of its target";

// In the reason of a run whose window has step times that were computed from rates.
inline constexpr std::string_view kTimesFromRates =
    "its step times follow from the rates that its lines print";

// 10 for a log that prints iterations 10, 20, 30 … (and 1, which some print always); 1 where every
// one is printed, or where the gaps follow no rule.
std::int64_t logging_interval(const StatusEvidence& evidence);

// `is_running`: what the failure's line says is a suspicion only.
std::string no_step_reason(const LogEvent* failure, bool is_running, bool end_is_announced);
std::string no_step_time_reason(const StatusEvidence& evidence);
std::string complete_reason(const StatusEvidence& evidence);
std::string nan_reason(const StatusEvidence& evidence);
// Of a whole window that is_mostly_skipped().
std::string skipped_window_reason(const StatusEvidence& evidence);
// Why it is not complete; `is_running` chooses the tense.
std::string unfinished_reason(const StatusEvidence& evidence, bool is_running);

}  // namespace llmb::parser
