#include "parser/statistics/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parser/dialects/failure_class.h"
#include "parser/foundation/name_table.h"
#include "parser/statistics/first_cause.h"
#include "parser/statistics/status_reason.h"
#include "parser/statistics/teardown.h"
#include "parser/statistics/window_coverage.h"

namespace llmb::parser {
namespace {

constexpr auto kStatusNames = name_table<RunStatus>({
    {RunStatus::no_data, "no_data"},
    {RunStatus::running, "running"},
    {RunStatus::complete, "complete"},
    {RunStatus::incomplete, "incomplete"},
    {RunStatus::failed, "failed"},
    {RunStatus::invalid, "invalid"},
});

std::span<const StepSample> samples_of_segment(std::span<const StepSample> samples,
                                               std::int32_t segment) {
  const auto first = std::lower_bound(
      samples.begin(), samples.end(), segment,
      [](const StepSample& sample, std::int32_t number) { return sample.segment < number; });
  const auto last = std::upper_bound(
      first, samples.end(), segment,
      [](std::int32_t number, const StepSample& sample) { return number < sample.segment; });
  return {first, last};
}

// The index into facts.segments of the last segment that holds the whole window with step times,
// else of the last one.
std::size_t choose_segment(std::span<const StepSample> samples, const LogFacts& facts,
                           const Window& window) {
  for (std::size_t i = facts.segments.size(); i-- > 0;) {
    const SegmentFacts& segment = facts.segments[i];
    if (segment.step_count < window.size()) continue;
    const auto own = samples_of_segment(samples, segment.segment);
    if (measure_coverage(own, window).is_whole()) return i;
  }
  return facts.segments.size() - 1;
}

// Whether `event` came after the last step of the segment at `index`. Counted in steps; where the
// log has more segments than LogFacts keeps, told from where the known steps stand.
bool is_after_segment(const LogEvent& event, const LogFacts& facts, std::size_t index,
                      std::span<const StepSample> segment_samples) {
  const SegmentFacts& segment = facts.segments[index];
  if (segment.segment == static_cast<std::int32_t>(index)) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i <= index; ++i) end += facts.segments[i].step_count;
    return event.steps_before >= end;
  }
  const std::uint64_t last_known =
      segment_samples.empty() ? segment.first_offset : segment_samples.back().byte_offset;
  return event.offset > last_known;
}

std::int64_t steps_before_segment(const LogFacts& facts, std::size_t index) {
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < index; ++i) steps += facts.segments[i].step_count;
  return steps;
}

bool is_inside_segment(const LogEvent& event, const LogFacts& facts, std::size_t index) {
  return event.steps_before > steps_before_segment(facts, index);
}

// Whether as few steps of the segment at `index` follow `event` as are logged while processes end.
bool is_near_end(const LogEvent& event, const LogFacts& facts, std::size_t index,
                 std::optional<double> step_time_s) {
  // Of a log with more segments than LogFacts keeps, where this one begins is not known.
  if (facts.segments[index].segment != static_cast<std::int32_t>(index)) return false;
  const std::int64_t begin = steps_before_segment(facts, index);
  const std::int64_t after = begin + facts.segments[index].step_count - event.steps_before;
  if (event.steps_before < begin) return false;
  return is_teardown(after, facts.segments[index], step_time_s);
}

// Whether `event`, inside the segment at `index`, ended it, and what follows is its teardown only.
bool ends_segment_over(const LogEvent& event, const LogFacts& facts, std::size_t index,
                       std::optional<double> step_time_s) {
  return may_end_over(event, facts.segments[index], facts.declared_last_iteration) &&
         is_inside_segment(event, facts, index) && is_near_end(event, facts, index, step_time_s);
}

// A program, a shell or a step daemon said it, and went on: of a run with steps no cause by itself.
bool was_gone_on_after(const LogEvent* chosen) {
  if (chosen == nullptr) return false;
  const CauseDepth depth = depth_of(*chosen);
  return depth == CauseDepth::complaint || depth == CauseDepth::survivable;
}

// That somebody said that all ended well, and what was told last of an end that is none.
struct LastWords {
  const LogEvent* good_end = nullptr;
  const LogEvent* failure = nullptr;

  void see_good_end(const LogEvent& event) { good_end = &event; }
  void see_failure(const LogEvent& event) {
    if (may_be_last_word(event, false) || announces_end(event)) failure = &event;
  }
  bool are_good() const {
    return good_end != nullptr && (failure == nullptr || failure->offset < good_end->offset);
  }
};

// What threads and exporters print while an interpreter ends, and what was caught near a good end:
// the program says that it is done, and nobody tells of a process that ended otherwise. Where
// somebody does, and all says at last that it ended well, it was a process beside the program.
bool is_of_a_good_end(const LogEvent& failure, const LogEvent* finish_marker, bool was_last_reached,
                      bool end_is_announced, const LastWords& last) {
  const bool was_done = finish_marker != nullptr && finish_marker->offset < failure.offset;
  if (end_is_announced) return (was_done || was_last_reached) && last.are_good();
  // That a job's script ended with 0 says nothing of what ran in it.
  const bool is_done = finish_marker != nullptr && finish_marker->cause != "job_exited";
  return was_done || is_done || last.are_good();
}

// Where the events of the newest attempt begin: what came before is of those that were given up, or
// was survived.
std::size_t newest_attempt(const LogFacts& facts) {
  const auto last = std::find_if(facts.events.rbegin(), facts.events.rend(),
                                 [](const LogEvent& event) { return begins_anew(event.cause); });
  return static_cast<std::size_t>(facts.events.rend() - last);
}

// Sorts the log's events by what they mean for one segment.
void sort_events(const LogFacts& facts, std::size_t index,
                 std::span<const StepSample> segment_samples, std::optional<double> step_time_s,
                 StatusEvidence& evidence) {
  FirstCause ending;
  FirstCause survived;
  FirstCause last_words;  // of a rank, while another one went on logging steps
  LastWords last;
  const std::size_t attempt_begin = newest_attempt(facts);
  for (std::size_t i = 0; i < facts.events.size(); ++i) {
    const LogEvent& event = facts.events[i];
    const bool is_of_attempt = i >= attempt_begin;
    const bool is_after = is_after_segment(event, facts, index, segment_samples);
    if (event.cause == kEndedWell) {
      if (is_after) last.see_good_end(event);
    } else if (event.kind == LogEvent::Kind::finish_marker) {
      if (is_after && evidence.finish_marker == nullptr) evidence.finish_marker = &event;
    } else {
      const bool is_end =
          is_after || (is_of_attempt && ends_segment_over(event, facts, index, step_time_s));
      const bool is_announced = is_end && is_of_attempt && announces_end(event);
      evidence.end_is_announced = evidence.end_is_announced || is_announced;
      evidence.end_is_last = evidence.end_is_last || (is_announced && is_after);
      if (is_end) last.see_failure(event);
      if (is_end || !begins_anew(event.cause)) (is_end ? ending : survived).offer(event);
      const bool may_tell_why = !is_end && is_of_attempt &&
                                may_be_last_word(event, !is_inside_segment(event, facts, index)) &&
                                is_near_end(event, facts, index, step_time_s);
      if (may_tell_why) last_words.offer(event);
    }
  }
  if (last_words.chosen() != nullptr && explains(*last_words.chosen(), ending)) {
    evidence.ending_failure = last_words.chosen();
    return;
  }
  const bool is_warning = was_gone_on_after(ending.chosen());
  evidence.ending_failure = is_warning && !evidence.end_is_announced ? nullptr : ending.chosen();
  const bool is_healthy =
      evidence.ending_failure != nullptr && evidence.segment.nan_step_count == 0 &&
      is_of_a_good_end(*evidence.ending_failure, evidence.finish_marker,
                       evidence.last_was_reached(), evidence.end_is_announced, last);
  if (is_healthy) evidence.ending_failure = nullptr;
  // A warning that training went on after is no news.
  evidence.survived_failure = was_gone_on_after(survived.chosen()) ? nullptr : survived.chosen();
}

// Whose step time is the mean since the line before.
bool prints_interval_means(Dialect dialect) {
  return dialect == Dialect::megatron_lm || dialect == Dialect::megatron_bridge ||
         dialect == Dialect::torchtitan || dialect == Dialect::hf_trainer ||
         dialect == Dialect::deepspeed;
}

StatusEvidence collect_evidence(std::span<const StepSample> samples, const LogFacts& facts,
                                const Window& window, const StepInterruptionSet& without) {
  StatusEvidence evidence;
  const std::size_t index = choose_segment(samples, facts, window);
  evidence.window = window;
  evidence.dialect = facts.dialect;
  evidence.segment = facts.segments[index];
  evidence.segment_count = facts.segments.back().segment + 1;
  const auto own = samples_of_segment(samples, evidence.segment.segment);
  evidence.coverage = measure_coverage(own, window, without);
  if (prints_interval_means(facts.dialect)) {
    count_interval_lines(evidence.coverage, window, logging_interval(evidence),
                         evidence.segment.last_iteration);
  }
  evidence.declared_last_iteration = facts.declared_last_iteration;
  for (std::size_t i = index + 1; i < facts.segments.size(); ++i) {
    const std::int64_t later = facts.segments[i].last_iteration;
    evidence.later_last_iteration = std::max(evidence.later_last_iteration.value_or(later), later);
  }
  const auto step_times = compute_window_statistics(evidence.coverage.step_times_s);
  sort_events(facts, index, own, step_times ? std::optional(step_times->mean) : std::nullopt,
              evidence);
  return evidence;
}

// Without a declared end, the program's own finish marker, or silence of a dead log, is the end;
// with a failure line that may have cut it short, it is not.
bool end_was_reached(const StatusEvidence& evidence, bool may_still_grow) {
  if (evidence.declared_last_iteration) return evidence.last_was_reached();
  if (evidence.finish_marker != nullptr) {
    return evidence.ending_failure == nullptr ||
           evidence.finish_marker->offset < evidence.ending_failure->offset;
  }
  return !may_still_grow && evidence.ending_failure == nullptr;
}

void decide(const StatusEvidence& evidence, bool has_step_times, bool may_still_grow,
            RunSummary& summary) {
  if (evidence.segment.nan_step_count > 0) {
    summary.status = RunStatus::invalid;
    summary.status_reason = nan_reason(evidence);
  } else if (evidence.coverage.is_whole() && evidence.coverage.is_mostly_skipped()) {
    summary.status = RunStatus::invalid;
    summary.status_reason = skipped_window_reason(evidence);
  } else if (evidence.coverage.is_whole() && end_was_reached(evidence, may_still_grow)) {
    summary.status = RunStatus::complete;
    summary.status_reason = complete_reason(evidence);
  } else {
    const bool may_go_on =
        may_still_grow && !evidence.end_is_last && !evidence.is_silent_for_long();
    const bool has_failed =
        evidence.ending_failure != nullptr && !evidence.last_was_reached() && !may_go_on;
    const bool is_running = may_still_grow && !has_failed && !evidence.last_was_reached();
    summary.status = has_failed        ? RunStatus::failed
                     : is_running      ? RunStatus::running
                     : !has_step_times ? RunStatus::no_data
                                       : RunStatus::incomplete;
    summary.status_reason =
        has_step_times ? unfinished_reason(evidence, is_running) : no_step_time_reason(evidence);
  }
}

bool has_announced_end(const LogFacts& facts) {
  const auto begin = facts.events.begin() + static_cast<std::ptrdiff_t>(newest_attempt(facts));
  return std::any_of(begin, facts.events.end(), [](const LogEvent& event) {
    return event.kind == LogEvent::Kind::failure && announces_end(event);
  });
}

// Whether a later attempt said that it is done.
bool was_made_good(const LogFacts& facts, const LogEvent& failure, const LogEvent* finish_marker) {
  const std::size_t attempt = newest_attempt(facts);
  if (attempt == 0 || finish_marker == nullptr) return false;
  const std::uint64_t beginning = facts.events[attempt - 1].offset;
  return failure.offset < beginning && beginning < finish_marker->offset;
}

// Whether a program that was told to go ("Handling auto-requeue signal") says behind that that it
// has trained all, which a script's exit code does not, and nobody else tells of an end.
bool came_to_its_end(const LogFacts& facts, const LogEvent& notice, const LogEvent* finish_marker) {
  if (finish_marker == nullptr || finish_marker->offset < notice.offset) return false;
  return finish_marker->cause != "job_exited" && announces_end(notice) &&
         std::none_of(facts.events.begin(), facts.events.end(), [&](const LogEvent& event) {
           return event.kind == LogEvent::Kind::failure && announces_end(event) &&
                  event.cause != notice.cause;
         });
}

// Null where there are warnings only, and nobody says that a process has ended; and where all ended
// well.
const LogEvent* first_cause_of_all(const LogFacts& facts) {
  FirstCause first;
  LastWords last;
  const LogEvent* finish_marker = nullptr;
  for (const LogEvent& event : facts.events) {
    if (event.kind == LogEvent::Kind::failure) {
      first.offer(event);
      last.see_failure(event);
    } else if (event.cause == kEndedWell) {
      last.see_good_end(event);
    } else {
      finish_marker = &event;
    }
  }
  const LogEvent* const chosen = first.chosen();
  if (chosen == nullptr) return nullptr;
  const bool is_warning = depth_of(*chosen) == CauseDepth::survivable;
  const bool has_end = has_announced_end(facts);
  const bool is_healthy = is_of_a_good_end(*chosen, finish_marker, false, has_end, last) ||
                          was_made_good(facts, *chosen, finish_marker) ||
                          came_to_its_end(facts, *chosen, finish_marker);
  return is_healthy || (is_warning && !has_end) ? nullptr : chosen;
}

void summarize_without_steps(const LogFacts& facts, bool may_still_grow, RunSummary& summary) {
  const LogEvent* failure = first_cause_of_all(facts);
  const bool has_end = has_announced_end(facts);
  const std::string_view why_not_read = traits_of(facts.dialect).why_not_read;
  if (failure == nullptr && !why_not_read.empty()) {
    summary.status = RunStatus::no_data;
    summary.status_reason = why_not_read;
    return;
  }
  const bool is_running = may_still_grow && !has_end;
  summary.status = is_running           ? RunStatus::running
                   : failure != nullptr ? RunStatus::failed
                                        : RunStatus::no_data;
  summary.status_reason = no_step_reason(failure, is_running, has_end);
  if (summary.status == RunStatus::failed && failure != nullptr) {
    summary.failure_cause = failure->cause;
  }
}

// Only steps of the window that are there and have no time show that the producer prints none: of
// those outside, callers give some or none.
bool has_timed_steps(std::span<const StepSample> samples, const Window& window) {
  bool has_steps = false;
  for (const StepSample& sample : samples) {
    if (!window.contains(sample.iteration)) continue;
    if (sample.step_time_s) return true;
    has_steps = true;
  }
  return !has_steps;
}

bool is_unfinished(RunStatus status) {
  return status == RunStatus::running || status == RunStatus::incomplete;
}

// Why a run is not complete.
std::string failure_cause(const StatusEvidence& evidence, RunStatus status) {
  if (is_unfinished(status) && evidence.is_hung()) return "hung";
  if (status == RunStatus::complete || status == RunStatus::running) return {};
  return evidence.ending_failure != nullptr ? evidence.ending_failure->cause : "";
}

}  // namespace

std::string_view run_status_name(RunStatus status) {
  return kStatusNames.name(status);
}

std::optional<RunStatus> run_status_from_name(std::string_view text) {
  return kStatusNames.value(text);
}

double typical_step_time_s(std::vector<double> times_s) {
  std::erase_if(times_s, [](double time_s) { return !(time_s > 0); });
  if (times_s.empty()) return 0;
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::nth_element(times_s.begin(), middle, times_s.end());
  return *middle;
}

RunSummary summarize_run(std::span<const StepSample> samples, const LogFacts& facts,
                         const Window& window, bool may_still_grow, std::optional<Silence> silence,
                         const StepInterruptionSet& without) {
  RunSummary summary;
  summary.window = window;
  summary.declared_last_iteration = facts.declared_last_iteration;
  summary.iterations_missing_in_window = window.size();
  if (facts.segments.empty()) {
    summarize_without_steps(facts, may_still_grow, summary);
    return summary;
  }

  StatusEvidence evidence = collect_evidence(samples, facts, window, without);
  summary.segment = evidence.segment.segment;
  summary.segment_count = evidence.segment_count;
  summary.last_iteration = evidence.segment.last_iteration;
  summary.window_is_whole = evidence.coverage.is_whole();
  summary.iterations_missing_in_window = evidence.coverage.iterations_missing;
  summary.window_interruptions = interruptions_text(evidence.coverage);
  summary.steps_left_out = evidence.coverage.left_out_steps;
  summary.step_time_s = compute_window_statistics(evidence.coverage.step_times_s);
  summary.tflops_per_gpu = compute_window_statistics(evidence.coverage.tflops_per_gpu);
  const auto rates = compute_window_statistics(evidence.coverage.tokens_per_s_per_gpu);
  if (rates) summary.printed_tokens_per_s_per_gpu = rates->mean;
  const auto energies = compute_window_statistics(evidence.coverage.energy_j_per_gpu);
  if (energies) summary.energy_j_per_gpu_mean = energies->mean;

  // A producer may print a rate in the place of a time.
  const bool has_step_times =
      has_timed_steps(samples_of_segment(samples, evidence.segment.segment), window) ||
      !evidence.coverage.tokens_per_s_per_gpu.empty();
  if (silence) {
    evidence.silent_s = silence->silent_s;
    evidence.step_time_s = silence->step_time_s;
    evidence.silent_since = silence->since;
  }
  decide(evidence, has_step_times, may_still_grow, summary);
  if (summary.step_time_s && evidence.coverage.times_from_rates > 0) {
    summary.status_reason += fmt::format("; {}", kTimesFromRates);
  }
  summary.is_function_check = is_function_check(facts, evidence.segment);
  if (summary.is_function_check) {
    summary.status_reason += "; a function check: one step after a checkpoint was loaded";
  }
  summary.failure_cause = failure_cause(evidence, summary.status);
  if (is_unfinished(summary.status) && evidence.fell_silent_without_a_word()) {
    summary.silent_s = evidence.silent_s;
  }
  return summary;
}

bool has_run_all_steps(const RunSummary& summary) {
  return summary.status == RunStatus::incomplete && summary.failure_cause.empty() &&
         summary.last_iteration && summary.declared_last_iteration &&
         *summary.last_iteration >= *summary.declared_last_iteration;
}

bool is_function_check(const LogFacts& facts, const SegmentFacts& segment) {
  const bool has_loaded = std::any_of(
      facts.checkpoints.begin(), facts.checkpoints.end(),
      [](const CheckpointEvent& event) { return event.kind == CheckpointEvent::Kind::load; });
  return has_loaded && segment.step_count == 1 && facts.declared_last_iteration &&
         segment.last_iteration >= *facts.declared_last_iteration;
}

const LogEvent* ending_failure(const LogFacts& facts, const RunSummary& summary) {
  if (facts.segments.empty()) return first_cause_of_all(facts);
  std::size_t index = facts.segments.size() - 1;
  while (index > 0 && facts.segments[index].segment > summary.segment) --index;
  StatusEvidence evidence;
  evidence.segment = facts.segments[index];
  evidence.declared_last_iteration = facts.declared_last_iteration;
  sort_events(facts, index, {},
              summary.step_time_s ? std::optional(summary.step_time_s->mean) : std::nullopt,
              evidence);
  return evidence.ending_failure;
}

}  // namespace llmb::parser
