#include "parser/dialects/step_ledger.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parser/dialects/checkpoint_list.h"
#include "parser/dialects/event_bearing.h"
#include "parser/dialects/failure_class.h"
#include "parser/dialects/line_weight.h"
#include "parser/dialects/printed_step.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kEventsMax = 24;
constexpr std::size_t kStatedMax = 32;
// How far back an amended sample looks for its earlier self among those not yet taken.
constexpr std::size_t kReplaceReach = 64;

bool has_nan_loss(const StepSample& sample) {
  return sample.loss && !std::isfinite(*sample.loss);
}

// An infinite gradient norm is ordinary where the loss scale is sought: that step is skipped.
bool is_nan_step(const StepSample& sample) {
  return has_nan_loss(sample) || (sample.grad_norm && std::isnan(*sample.grad_norm));
}

// No step takes no time: the producer did not measure it.
bool is_impossible_time(double time_s) {
  return !std::isfinite(time_s) || time_s <= 0;
}

bool is_new_beginning(const LogEvent& event) {
  return begins_anew(event.cause);
}

bool is_good_end(const LogEvent& event) {
  return event.cause == kEndedWell;
}

// Where the events begin among which one tells what was told before, by other ranks.
std::vector<LogEvent>::iterator newest_words(std::vector<LogEvent>& events) {
  return std::find_if(
             events.rbegin(), events.rend(),
             [](const LogEvent& event) { return is_new_beginning(event) || is_good_end(event); })
      .base();
}

// What the newest attempt's events tell of a scheduler, or a user, that ended it; null for nothing.
const LogEvent* newest_end_from_outside(const std::vector<LogEvent>& events) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (is_new_beginning(*event)) return nullptr;
    if (states_end_from_outside(*event)) return &*event;
  }
  return nullptr;
}

bool was_ended_from_outside(const std::vector<LogEvent>& events) {
  return newest_end_from_outside(events) != nullptr;
}

// Of the attempts that ended, or went on, without a step between, the first and the last are kept,
// and the last that went on counting: those behind it may have ended by what it left behind.
void forget_attempts_without_steps(std::vector<LogEvent>& events, std::string_view beginning,
                                   std::int64_t step_count) {
  const auto is_without_steps = [&](const LogEvent& event) {
    return is_new_beginning(event) && event.steps_before == step_count;
  };
  const auto last = std::find_if(events.rbegin(), events.rend(), [&](const LogEvent& event) {
    return event.cause == beginning || event.cause == kRestarted;
  });
  if (last == events.rend() || last->cause != beginning || !is_without_steps(*last)) return;
  const auto begin = std::next(last).base();
  const bool went_on = beginning == kRestarted &&
                       std::any_of(begin, events.end(),
                                   [](const LogEvent& event) { return event.cause == kWentOn; });
  if (went_on) {
    events.erase(std::find_if(events.begin(), begin, is_without_steps), begin);
  } else {
    events.erase(begin, events.end());
  }
}

// The first steps may have been held back: what counted were they.
void forget_counts_of_steps(std::vector<LogEvent>& events, std::uint64_t offset) {
  std::erase_if(events, [&](const LogEvent& event) {
    return event.cause == kWentOn && event.offset >= offset;
  });
}

bool same_step(const StepSample& a, const StepSample& b) {
  return a.segment == b.segment && a.iteration == b.iteration;
}

bool is_first_of_its_kind(const std::vector<LogEvent>& events, std::size_t index) {
  return std::none_of(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const LogEvent& other) { return other.kind == events[index].kind; });
}

// At the cap the oldest that steps came after gives way, but for the first of each kind. False
// where there is none: the many lines of one teardown do not drive out the ones before them.
bool forget_one(std::vector<LogEvent>& events, std::int64_t step_count) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].steps_before == step_count || is_first_of_its_kind(events, i)) continue;
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

}  // namespace

const StepSample& StepLedger::add(StepSample sample) {
  refuse_impossible_time(sample);
  const bool is_printed_again = newest_ && sample.iteration == newest_->iteration &&
                                prints_the_same(sample, newest_as_added());
  if (is_printed_again || is_late(sample.iteration)) {
    processes_.note(sample.iteration);
    return *newest_;
  }
  if (!newest_ || sample.iteration <= newest_->iteration) begin_segment(sample);
  processes_.note(sample.iteration);
  newest_as_added_.reset();
  StepSample as_printed = sample;
  if (marks_.put_on(sample)) newest_as_added_ = std::move(as_printed);
  if (step_count_ == 0) forget_counts_of_steps(facts_.events, sample.byte_offset);
  training_is_over_ = false;
  SegmentFacts& segment = facts_.segments.back();
  sample.segment = segment.segment;
  segment.last_iteration = sample.iteration;
  ++segment.step_count;
  ++step_count_;
  // A reader may have held the step back (HeldSteps): what the log tells below it came after it.
  for (auto event = facts_.events.rbegin();
       event != facts_.events.rend() && event->offset > sample.byte_offset; ++event) {
    ++event->steps_before;
  }
  if (facts_.declared_last_iteration && sample.iteration > *facts_.declared_last_iteration) {
    facts_.declared_last_iteration.reset();
  }
  forgive_skipped_steps(sample);
  newest_is_nan_ = false;
  count_nan(sample);
  samples_.push_back(sample);
  newest_ = std::move(sample);
  return *newest_;
}

bool StepLedger::is_late(std::int64_t iteration) const {
  const bool is_of_next = newest_ && newest_start_offset_ > newest_->byte_offset;
  return !is_of_next && processes_.is_late(iteration);
}

void StepLedger::begin_segment(const StepSample& sample) {
  nan_gradients_ = 0;
  processes_.begin_anew();
  // What an attempt had begun when it died is not the next one's.
  if (newest_) marks_.forget_before(std::max(newest_->byte_offset, newest_start_offset_));
  SegmentFacts segment;
  segment.first_iteration = sample.iteration;
  segment.first_offset = sample.byte_offset;
  if (!facts_.segments.empty()) segment.segment = facts_.segments.back().segment + 1;
  if (facts_.segments.size() == kSegmentsMax) facts_.segments.pop_back();
  facts_.segments.push_back(segment);
}

void StepLedger::refuse_impossible_time(StepSample& sample) {
  if (!sample.step_time_s || !is_impossible_time(*sample.step_time_s)) return;
  refuse_line(LineRefusal::step_time_impossible);
  if (*sample.step_time_s <= 0) sample.step_time_s.reset();
}

// An optimizer that took a NaN gradient has NaN losses from then on. Where the next step is finite
// it was skipped, as scalers of the loss skip it.
void StepLedger::forgive_skipped_steps(const StepSample& next) {
  if (is_nan_step(next) && !has_nan_loss(next)) return;
  const std::int64_t skipped = std::exchange(nan_gradients_, 0);
  SegmentFacts& segment = facts_.segments.back();
  const bool is_finite = next.loss && next.grad_norm && !has_nan_loss(next);
  if (!is_finite || skipped == 0) return;
  segment.nan_step_count -= skipped;
  if (segment.nan_step_count == 0) segment.first_nan_iteration.reset();
}

void StepLedger::count_nan(const StepSample& sample) {
  if (has_nan_loss(sample)) nan_gradients_ = 0;
  if (newest_is_nan_ || !is_nan_step(sample)) return;
  newest_is_nan_ = true;
  if (!has_nan_loss(sample)) ++nan_gradients_;
  SegmentFacts& segment = facts_.segments.back();
  ++segment.nan_step_count;
  if (!segment.first_nan_iteration) segment.first_nan_iteration = sample.iteration;
}

void StepLedger::amend_newest(StepSample sample) {
  refuse_impossible_time(sample);
  if (newest_) StepMarks::keep(*newest_, sample);
  if (!newest_ || prints_the_same(sample, *newest_)) return;
  count_nan(sample);
  give_out(sample);
  if (!newest_as_added_) newest_as_added_ = std::move(newest_);
  newest_ = std::move(sample);
}

void StepLedger::amend(const StepSample& sample) {
  if (newest_ && same_step(*newest_, sample)) {
    amend_newest(sample);
  } else {
    give_out(sample);
  }
}

void StepLedger::give_out(const StepSample& sample) {
  const std::size_t reach = std::min(samples_.size(), kReplaceReach);
  const auto end = samples_.rbegin() + static_cast<std::ptrdiff_t>(reach);
  const auto earlier = std::find_if(
      samples_.rbegin(), end, [&](const StepSample& other) { return same_step(other, sample); });
  if (earlier != end) {
    *earlier = sample;
  } else {
    samples_.push_back(sample);
  }
}

void StepLedger::declare_last_iteration(std::int64_t iteration) {
  if (newest_ && newest_->iteration > iteration) return;
  facts_.declared_last_iteration = iteration;
}

bool StepLedger::all_is_trained() const {
  const auto declared = facts_.declared_last_iteration;
  return training_is_over_ || (declared && newest_ && newest_->iteration >= *declared);
}

void StepLedger::add_event(LogEvent event) {
  std::vector<LogEvent>& events = facts_.events;
  event.steps_before = step_count_;
  if (event.cause == kStarted) {
    training_is_over_ = false;
    newest_start_offset_ = event.offset;
    if (!was_ended_from_outside(events)) return;
    event.cause = kRestarted;
  }
  if (event.cause == kEndedWell) std::erase_if(events, is_good_end);
  const bool is_of_next = (tells_of_a_start(event) && was_ended_from_outside(events)) ||
                          (was_over_before_its_requeue(events) && may_be_of_a_next_attempt(event));
  if (is_of_next) {
    add_event({.cause = std::string(kRestarted), .line = event.line, .offset = event.offset});
  }
  if (is_of_task_ && !task_said_why_ && tells_why(event)) forget_scripts();
  if (!is_of_task_ && task_said_why_ && may_be_of_a_script(event)) return;
  const auto same_cause = [&](const LogEvent& other) {
    return other.kind == event.kind && other.cause == event.cause;
  };
  // The first attempt of all.
  if (event.cause == kRestarted && events.empty()) return;
  if (is_new_beginning(event)) {
    forget_attempts_without_steps(events, event.cause, step_count_);
    task_said_why_ = false;
    script_offsets_.clear();
    if (event.cause == kRestarted) training_is_over_ = false;
  }
  const auto attempt_end = std::make_reverse_iterator(newest_words(events));
  const auto last = std::find_if(events.rbegin(), attempt_end, same_cause);
  if (last != attempt_end) {
    // Other ranks print it too: the first that did, since the newest step, is kept, unless this
    // one weighs more.
    if (last->steps_before == event.steps_before) {
      if (!weighs_more(event, *last) && !was_survived(*last, event)) return;
      events.erase(std::next(last).base());
    } else if (std::find_if(last + 1, attempt_end, same_cause) != attempt_end) {
      events.erase(std::next(last).base());
    }
  }
  if (events.size() >= kEventsMax && !forget_one(events, event.steps_before)) return;
  if (!is_of_task_ && !task_said_why_ && script_offsets_.size() < kEventsMax &&
      may_be_of_a_script(event)) {
    script_offsets_.push_back(event.offset);
  }
  const bool may_end_all = event.kind == LogEvent::Kind::failure && !is_new_beginning(event) &&
                           weight_of(event.line) > LineWeight::warning;
  if (may_end_all) ++failures_kept_;
  events.push_back(std::move(event));
}

const LogEvent* StepLedger::end_from_outside() const {
  return newest_end_from_outside(facts_.events);
}

// A script before or after the tasks says nothing of why these failed, where they do.
void StepLedger::forget_scripts() {
  for (const std::uint64_t offset : script_offsets_) retract_failure(offset);
  script_offsets_.clear();
  task_said_why_ = true;
}

// Whether a program began between the two: what was told before, it had begun in spite of.
bool StepLedger::was_survived(const LogEvent& earlier, const LogEvent& event) const {
  return event.kind == LogEvent::Kind::failure && earlier.offset < newest_start_offset_ &&
         newest_start_offset_ < event.offset && !is_last_word(earlier.line) &&
         weight_of(event.line) >= weight_of(earlier.line);
}

void StepLedger::retract_failure(std::uint64_t offset, std::string_view unless) {
  std::erase_if(facts_.events, [&](const LogEvent& event) {
    return event.kind == LogEvent::Kind::failure && event.offset == offset && event.cause != unless;
  });
}

const LogEvent* StepLedger::failure_at(std::uint64_t offset) const {
  const auto found = std::find_if(
      facts_.events.rbegin(), facts_.events.rend(),
      [&](const auto& one) { return one.kind == LogEvent::Kind::failure && one.offset == offset; });
  return found == facts_.events.rend() ? nullptr : &*found;
}

void StepLedger::add_checkpoint(const CheckpointEvent& event, bool is_of_next_step) {
  const std::uint64_t newest_step = newest_ ? newest_->byte_offset : 0;
  if (!add_to_checkpoints(facts_, event, newest_step)) return;
  if (event.kind == CheckpointEvent::Kind::load) return;
  marks_.see_checkpoint(event.offset, is_of_next_step ? event.iteration : std::nullopt);
}

LogFacts& StepLedger::facts() {
  forget_old_checkpoints(facts_);
  return facts_;
}

void StepLedger::refuse_line(LineRefusal reason) {
  ++facts_.lines_not_understood;
  ++refusals_.at(static_cast<std::size_t>(reason));
}

std::vector<StepSample> StepLedger::take_samples() {
  return std::exchange(samples_, {});
}

void StepLedger::add_stated(StatedValue value) {
  const bool is_known =
      std::any_of(facts_.stated.begin(), facts_.stated.end(),
                  [&](const StatedValue& known) { return known.key == value.key; });
  if (!is_known && facts_.stated.size() < kStatedMax) facts_.stated.push_back(std::move(value));
}

void StepLedger::save(StateWriter& state) const {
  state.optional_integer(facts_.declared_last_iteration);
  state.optional_number(facts_.reported_tflops_per_gpu);
  state.boolean(facts_.nccl_trace_seen);
  state.integer(facts_.lines_too_long);
  state.integer(facts_.lines_not_understood);
  state.unsigned_integer(facts_.segments.size());
  for (const SegmentFacts& segment : facts_.segments) {
    state.integer(segment.segment);
    state.integer(segment.first_iteration);
    state.integer(segment.last_iteration);
    state.integer(segment.step_count);
    state.integer(segment.nan_step_count);
    state.optional_integer(segment.first_nan_iteration);
    state.unsigned_integer(segment.first_offset);
  }
  state.unsigned_integer(facts_.events.size());
  for (const LogEvent& event : facts_.events) {
    state.boolean(event.kind == LogEvent::Kind::failure);
    state.text(event.cause);
    state.text(event.line);
    state.unsigned_integer(event.offset);
    state.integer(event.steps_before);
    state.optional_integer(event.rank);
    state.text(event.operation);
  }
  save_checkpoints(state, facts_);
  state.unsigned_integer(facts_.stated.size());
  for (const StatedValue& value : facts_.stated) {
    state.text(value.key);
    state.text(value.value);
  }
  state.boolean(newest_.has_value());
  if (newest_) {
    state.sample(*newest_);
    state.sample(newest_as_added());
  }
  state.boolean(newest_is_nan_);
  state.integer(nan_gradients_);
  state.integer(step_count_);
  state.unsigned_integer(newest_start_offset_);
  state.boolean(training_is_over_);
  state.boolean(task_said_why_);
  state.unsigned_integer(script_offsets_.size());
  for (const std::uint64_t offset : script_offsets_) state.unsigned_integer(offset);
  marks_.save(state);
  processes_.save(state);
}

void StepLedger::restore(StateReader& state) {
  facts_.declared_last_iteration = state.optional_integer();
  facts_.reported_tflops_per_gpu = state.optional_number();
  facts_.nccl_trace_seen = state.boolean();
  facts_.lines_too_long = state.integer();
  facts_.lines_not_understood = state.integer();
  facts_.segments.resize(state.count(kSegmentsMax));
  for (SegmentFacts& segment : facts_.segments) {
    segment.segment = static_cast<std::int32_t>(state.integer());
    segment.first_iteration = state.integer();
    segment.last_iteration = state.integer();
    segment.step_count = state.integer();
    segment.nan_step_count = state.integer();
    segment.first_nan_iteration = state.optional_integer();
    segment.first_offset = state.unsigned_integer();
  }
  facts_.events.resize(state.count(kEventsMax));
  for (LogEvent& event : facts_.events) {
    event.kind = state.boolean() ? LogEvent::Kind::failure : LogEvent::Kind::finish_marker;
    event.cause = state.text();
    event.line = state.text();
    event.offset = state.unsigned_integer();
    event.steps_before = state.integer();
    event.rank = state.optional_integer();
    event.operation = state.text();
  }
  restore_checkpoints(state, facts_);
  facts_.stated.resize(state.count(kStatedMax));
  for (StatedValue& value : facts_.stated) {
    value.key = state.text();
    value.value = state.text();
  }
  if (state.boolean()) {
    newest_ = state.sample();
    newest_as_added_ = state.sample();
    if (facts_.segments.empty()) state.fail();
  }
  newest_is_nan_ = state.boolean();
  nan_gradients_ = state.integer();
  step_count_ = state.integer();
  newest_start_offset_ = state.unsigned_integer();
  training_is_over_ = state.boolean();
  task_said_why_ = state.boolean();
  script_offsets_.resize(state.count(kEventsMax));
  for (std::uint64_t& offset : script_offsets_) offset = state.unsigned_integer();
  marks_.restore(state);
  processes_.restore(state);
}

}  // namespace llmb::parser
