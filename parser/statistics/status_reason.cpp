#include "parser/statistics/status_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "parser/foundation/plural.h"

namespace llmb::parser {
namespace {

constexpr double kToldInSecondsS = 2 * 3'600;
constexpr std::size_t kDayLength = 10;  // of "2024-01-01" in an instant's text

// "iteration 46 of 49", or "iteration 46" where the log does not say how many are meant.
std::string reached(const StatusEvidence& evidence) {
  std::string text = fmt::format("iteration {}", evidence.segment.last_iteration);
  if (evidence.declared_last_iteration) {
    text += fmt::format(" of {}", *evidence.declared_last_iteration);
  }
  return text;
}

std::string quoted(const LogEvent& event) {
  return event.cause + ", '" + event.line + "'";
}

// Of a run that goes on: nothing says yet that it ended.
std::string suspicion(const LogEvent* failure) {
  if (failure == nullptr) return {};
  return "; a line that may tell of a failure: " + quoted(*failure);
}

// Behind the failure that a log ends with. One look at a file does not tell whether its job lives.
std::string doubt(bool end_is_announced) {
  return end_is_announced ? "" : "; no line says that a process ended: a job that lives may go on";
}

std::string window_name(const StatusEvidence& evidence) {
  return "window " + to_string(evidence.window);
}

// Where a result is made of the last step, the window follows a run that goes on.
bool is_newest_step_only(const StatusEvidence& evidence) {
  return evidence.window.size() == 1 && evidence.declared_last_iteration &&
         evidence.window.last_iteration == evidence.segment.last_iteration &&
         !evidence.last_was_reached();
}

// Restarts and survived failures: part of the sentence whatever the status.
std::string history(const StatusEvidence& evidence) {
  std::string text;
  if (evidence.segment_count > 1) {
    text += fmt::format("; the log holds {}, and segment {} counts",
                        plural(evidence.segment_count - 1, "restart"), evidence.segment.segment);
  }
  if (evidence.later_last_iteration) {
    text += fmt::format(", a later one reached iteration {}", *evidence.later_last_iteration);
  }
  if (evidence.survived_failure != nullptr) {
    text += "; training went on after a failure (" + quoted(*evidence.survived_failure) + ")";
  }
  return text;
}

// What of the window is missing; only for a window that is not whole.
std::string gap(const StatusEvidence& evidence) {
  const std::int64_t last = evidence.segment.last_iteration;
  const std::int64_t interval = logging_interval(evidence);
  const std::string name = window_name(evidence);
  const char* const value = evidence.coverage.has_rates_only ? "rate" : "step time";
  const std::int64_t missing = evidence.coverage.iterations_missing;
  const std::int64_t told = evidence.window.size() - missing;
  if (interval > 1 && told > 0) {
    return fmt::format(
        "steps are logged every {} iterations, so only {} of the {} in the {} have a {}", interval,
        told, evidence.window.size(), name, value);
  }
  if (last < evidence.window.last_iteration) {
    return fmt::format("the {} needs iteration {}", name, evidence.window.last_iteration);
  }
  if (told == 0) {
    return fmt::format("no iteration of the {} has a step time (the log's are {}-{})", name,
                       evidence.segment.first_iteration, last);
  }
  return fmt::format("{} of the {} in the {} have no {}, the first is {}", missing,
                     plural(evidence.window.size(), "iteration"), name, value,
                     evidence.coverage.first_missing_iteration.value_or(0));
}

// "20 of 20 steps were run", where the log shows them from the first on.
std::string steps_run(const StatusEvidence& evidence) {
  // What turns "iteration 19" into "20 steps".
  const std::int64_t base = traits_of(evidence.dialect).first_iteration;
  if (evidence.segment.first_iteration != base) return reached(evidence) + " was reached";
  const std::int64_t total = *evidence.declared_last_iteration - base + 1;
  return fmt::format("{} of {}{}", evidence.segment.last_iteration - base + 1, total,
                     total == 1 ? " step was run" : " steps were run");
}

// A checkpoint, an evaluation or a profiler inside the window, and what was made of it.
std::string what_touches(const StatusEvidence& evidence) {
  const std::string touched = interruptions_text(evidence.coverage);
  if (touched.empty()) return {};
  std::string text = "; steps of the window are touched by " + touched;
  if (evidence.coverage.left_out_steps > 0) {
    text += "; " + plural(evidence.coverage.left_out_steps, "step") + " of it left out";
  }
  return text;
}

// What a reader of a whole window's numbers has to know of them.
std::string what_values_are(const StatusEvidence& evidence) {
  std::string text;
  const WindowCoverage& coverage = evidence.coverage;
  if (coverage.has_rates_only) text += "; its steps have rates and no step times";
  if (coverage.iterations_per_line > 1) {
    text += fmt::format("; a line is the mean of {} iterations, and the window holds {}",
                        coverage.iterations_per_line, plural(coverage.steps_with_value(), "line"));
  }
  if (coverage.hidden_steps > 0) {
    text += "; of " + plural(coverage.hidden_steps, "step") +
            " in it the program prints no time, because its profiler started or stopped there";
  }
  if (coverage.skipped_steps > 0) {
    text +=
        fmt::format("; in {} of the {} of it that print a gradient norm that is NaN or infinite",
                    coverage.skipped_steps, plural(coverage.steps_with_norm, "step"));
  }
  return text + what_touches(evidence);
}

// "silent for over 900 s, 120 step times: hung, or killed without a word": true still when it is
// read, long after it was said.
std::string recent_silence(const StatusEvidence& evidence) {
  const double silent_s = *evidence.silent_s;
  const auto steps = static_cast<std::int64_t>(silent_s / evidence.step_time_s);
  const std::string span = silent_s < kToldInSecondsS
                               ? fmt::format("{} s", static_cast<std::int64_t>(silent_s))
                               : fmt::format("{:.1f} h", silent_s / 3'600);
  return fmt::format("silent for over {}, {} step times: hung, or killed without a word", span,
                     steps);
}

// "silent since 2024-01-01"
std::string long_silence(const StatusEvidence& evidence) {
  if (evidence.silent_since) {
    return "silent since " + instant_text(*evidence.silent_since).substr(0, kDayLength);
  }
  return "silent for " + plural(static_cast<std::int64_t>(*evidence.silent_s / 86'400), "day");
}

}  // namespace

bool StatusEvidence::is_silent_for_long() const {
  return silent_s && step_time_s > 0 &&
         *silent_s >= std::max(kHungStepTimes * step_time_s, kHungAtLeastS);
}

bool StatusEvidence::fell_silent_without_a_word() const {
  return is_silent_for_long() && ending_failure == nullptr && finish_marker == nullptr &&
         !last_was_reached();
}

bool StatusEvidence::is_hung() const {
  return fell_silent_without_a_word() && *silent_s < kHungLessThanS;
}

std::int64_t logging_interval(const StatusEvidence& evidence) {
  const SegmentFacts& segment = evidence.segment;
  std::int64_t intervals = segment.step_count - 1;
  std::int64_t span = segment.last_iteration - segment.first_iteration;
  const bool has_extra_first = segment.first_iteration == 1 && intervals > 1 &&
                               span % intervals != 0 && segment.last_iteration % intervals == 0;
  if (has_extra_first) span = segment.last_iteration;
  if (intervals < 1 || span % intervals != 0) return 1;
  const std::int64_t interval = span / intervals;
  const bool window_agrees = evidence.coverage.steps < 2 || evidence.coverage.interval == interval;
  return window_agrees ? interval : 1;
}

std::string no_step_reason(const LogEvent* failure, bool is_running, bool end_is_announced) {
  if (is_running) return "no step in the log yet" + suspicion(failure);
  if (failure != nullptr) {
    const char* const what = end_is_announced ? "the run died before its first step: "
                                              : "the log ends before the first step: ";
    return what + quoted(*failure) + doubt(end_is_announced);
  }
  return "no step in the log";
}

std::string no_step_time_reason(const StatusEvidence& evidence) {
  std::string text = plural(evidence.segment.step_count, "step") + " up to " + reached(evidence) +
                     ", but none with a step time";
  if (evidence.ending_failure != nullptr) {
    text += "; it ended with " + quoted(*evidence.ending_failure);
    text += doubt(evidence.end_is_announced);
  }
  return text + history(evidence);
}

std::string complete_reason(const StatusEvidence& evidence) {
  std::string text = window_name(evidence) + " is whole, and ";
  if (evidence.declared_last_iteration) {
    text += reached(evidence) + " was reached";
  } else {
    text += "the log ends at " + reached(evidence) + " without saying how many were meant";
  }
  text += what_values_are(evidence);
  if (evidence.finish_marker != nullptr && evidence.finish_marker->cause == kRunAborted) {
    text += fmt::format("; {}", kRunWasAborted);
  }
  if (evidence.ending_failure != nullptr) {
    text += fmt::format("; the failure after it ({}) came when the data was complete",
                        quoted(*evidence.ending_failure));
  }
  return text + history(evidence);
}

std::string nan_reason(const StatusEvidence& evidence) {
  std::string text = "the loss or gradient norm is NaN or infinite";
  if (evidence.segment.first_nan_iteration) {
    text += fmt::format(" from iteration {} on", *evidence.segment.first_nan_iteration);
  }
  text += fmt::format(", in {} of {}; the run reached {}", evidence.segment.nan_step_count,
                      plural(evidence.segment.step_count, "step"), reached(evidence));
  return text + history(evidence);
}

std::string skipped_window_reason(const StatusEvidence& evidence) {
  const WindowCoverage& coverage = evidence.coverage;
  return fmt::format(
             "the gradient norm is NaN or infinite in {} of the {} of {} that print one: an "
             "optimizer skips such a step, so its time is of no training; the run reached {}",
             coverage.skipped_steps, plural(coverage.steps_with_norm, "step"),
             window_name(evidence), reached(evidence)) +
         history(evidence);
}

std::string unfinished_reason(const StatusEvidence& evidence, bool is_running) {
  std::string text;
  const bool is_whole = evidence.coverage.is_whole();
  const bool all_were_run = evidence.last_was_reached();
  if (is_whole && is_running && is_newest_step_only(evidence)) {
    text = window_name(evidence) + " is the newest step alone; ";
  } else if (is_whole) {
    text = window_name(evidence) + " is whole; ";
  } else if (all_were_run) {
    text = steps_run(evidence) + ", ";
  }
  if (!all_were_run) {
    const char* verb = is_running ? "the run is at " : "the run ended at ";
    text += verb + reached(evidence);
    if (!is_whole) text += ", ";
  }
  if (!is_whole) text += gap(evidence);
  if (is_running && evidence.ending_failure != nullptr) {
    text += suspicion(evidence.ending_failure);
  } else if (evidence.ending_failure != nullptr) {
    text += (all_were_run ? "; the log ends with " : ": ") + quoted(*evidence.ending_failure);
    if (!all_were_run) text += doubt(evidence.end_is_announced);
  } else if (evidence.finish_marker != nullptr && !is_running && !all_were_run) {
    text += "; the program ended by itself: " + quoted(*evidence.finish_marker);
  } else if (evidence.is_hung()) {
    text += "; the log is " + recent_silence(evidence);
  } else if (!is_running && !all_were_run) {
    text += "; the log shows no cause";
    if (evidence.fell_silent_without_a_word()) text += ", and is " + long_silence(evidence);
  }
  return text + history(evidence);
}

}  // namespace llmb::parser
