#include "parser/dialects/traceback_reader.h"

#include <algorithm>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/line_weight.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

using Basis = ExceptionVerdict::Basis;

// From one line of a traceback to the next: other ranks print in between, and messages are long.
constexpr int kTracebackReach = 100;
constexpr std::string_view kTracebackHead = "Traceback (most recent call last)";
constexpr std::string_view kBlanks = " \t|+";

bool holds(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

bool links_two_exceptions(std::string_view text) {
  return holds(text, "The above exception was the direct cause of") ||
         holds(text, "During handling of the above exception");
}

// "KeyError: Caught KeyError in DataLoader worker process 0.", "Exception: \n\n-- Process 1
// terminated with the following error:".
bool stands_for_a_worker(std::string_view text) {
  return (holds(text, ": Caught ") &&
          (holds(text, " worker process ") || holds(text, "replica "))) ||
         holds(text, "-- Process ");
}

// "RuntimeError: " and "RuntimeError: tracing error at step 31:".
bool leaves_message_open(std::string_view text) {
  return trimmed(text).ends_with(':');
}

bool has_words(std::string_view text) {
  return std::count_if(text.begin(), text.end(), is_letter) >= 3;
}

// "ValueError: x" and "zmq.Again", without a look at the words.
bool has_form_of_exception(std::string_view text) {
  text = trimmed(text, kBlanks);
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_name);
  return end != text.begin() && (end == text.end() || *end == ':');
}

bool is_head_of_exception(std::string_view text) {
  return has_form_of_exception(text) && judge_exception(text).basis != Basis::no_exception;
}

}  // namespace

void TracebackReader::go_on() {
  lines_left_ = kTracebackReach;
}

void TracebackReader::read(const Record& record, std::string_view raw,
                           std::optional<LogEvent> event, StepLedger& ledger) {
  if (--lines_left_ <= 0) *this = {};
  const std::string_view text = without_collector_prefix(record.text);
  const bool is_of_traceback = read_head(text) || read_frame(text);
  if (is_of_traceback) go_on();
  if (!is_of_traceback && wants_every_line()) {
    if (links_two_exceptions(text)) {
      is_chained_ = true;
      go_on();
    } else if (read_message(record, text, ledger) ||
               read_exception(record, raw, text, event, ledger)) {
      go_on();
    }
  }
  if (event) ledger.add_event(std::move(*event));
}

bool TracebackReader::read_head(std::string_view text) {
  if (!holds(text, kTracebackHead)) return false;
  if (!is_chained_ && !is_stand_in_) weaker_.reset();
  if (!is_stand_in_) place_ = ProgramPlace::unknown;
  frame_count_ = 0;
  has_frames_ = next_is_source_ = false;
  open_.reset();
  return true;
}

bool TracebackReader::read_frame(std::string_view text) {
  const TracebackFrame frame = read_traceback_frame(text);
  if (!frame.file.empty()) {
    place_ = place_after_frame(place_, frame, frame_count_);
    // What runpy starts is the program, not an import.
    const bool is_runner = holds(frame.file, "runpy");
    frame_count_ = is_runner ? 0 : 1;
    has_frames_ = next_is_source_ = true;
    open_.reset();
    return true;
  }
  const bool is_source = next_is_source_ && (text.starts_with("  ") || text.starts_with("|"));
  next_is_source_ = false;
  if (is_source) place_ = place_after_source(place_, text);
  return is_source;
}

bool TracebackReader::read_message(const Record& record, std::string_view text,
                                   StepLedger& ledger) {
  if (!open_ || !has_words(text) || is_head_of_exception(text)) return false;
  LogEvent event = std::move(*open_);
  open_.reset();
  ledger.retract_failure(event.offset);
  const std::string_view words = trimmed(text, kBlanks);
  const std::string whole = event.line + " " + std::string(words);
  const ExceptionVerdict verdict = judge_exception(without_collector_prefix(whole), place_);
  if (verdict.basis != Basis::no_exception) event.cause = verdict.cause;
  event.line = shortened_line(words);
  event.offset = record.offset;
  is_stand_in_ = stands_for_a_worker(whole);
  if (is_stand_in_) place_ = ProgramPlace::unknown;
  const bool may_say_less = is_stand_in_ || verdict.basis == Basis::place;
  weaker_ = may_say_less ? std::optional(event.offset) : std::nullopt;
  ledger.add_event(std::move(event));
  return true;
}

bool TracebackReader::read_exception(const Record& record, std::string_view raw,
                                     std::string_view text, std::optional<LogEvent>& event,
                                     StepLedger& ledger) {
  const bool may_end_frames = has_frames_ && !text.starts_with("  ") && has_form_of_exception(text);
  if (event ? event->kind != LogEvent::Kind::failure : !may_end_frames) return false;
  const ExceptionVerdict verdict = judge_exception(text, place_);
  if (verdict.basis == Basis::no_exception) return false;
  if (!event) event = failure_of_line(record, raw, verdict.cause_by_words);
  // Where a sign names the class, it says more than the words.
  Basis basis = Basis::words;
  if (event->cause == verdict.cause_by_words) {
    event->cause = verdict.cause;
    basis = verdict.basis;
  }
  // Of two that belong together the first is nearer to the cause, but a place tells less than
  // words do, and who waited for a worker less than the worker.
  const bool says_more = basis == Basis::words || basis == Basis::refusal;
  if (weaker_ && is_stand_in_) {
    ledger.retract_failure(*weaker_);
  } else if (weaker_ && is_chained_ && says_more) {
    ledger.retract_failure(*weaker_, event->cause);
  }
  is_chained_ = false;
  is_stand_in_ = stands_for_a_worker(text);
  if (is_stand_in_) place_ = ProgramPlace::data;
  const bool may_say_less = is_stand_in_ || basis == Basis::place;
  weaker_ = may_say_less ? std::optional(event->offset) : std::nullopt;
  open_.reset();
  if (basis != Basis::words && leaves_message_open(text)) open_ = event;
  has_frames_ = false;
  return true;
}

void TracebackReader::save(StateWriter& state) const {
  state.integer(lines_left_);
  if (lines_left_ == 0) return;
  state.integer(static_cast<int>(place_));
  state.integer(frame_count_);
  state.boolean(has_frames_);
  state.boolean(next_is_source_);
  state.boolean(is_chained_);
  state.boolean(is_stand_in_);
  state.boolean(weaker_.has_value());
  if (weaker_) state.unsigned_integer(*weaker_);
  state.boolean(open_.has_value());
  if (!open_) return;
  state.text(open_->cause);
  state.text(open_->line);
  state.unsigned_integer(open_->offset);
  state.optional_integer(open_->rank);
}

void TracebackReader::restore(StateReader& state) {
  lines_left_ = static_cast<int>(state.count(kTracebackReach));
  if (lines_left_ == 0) return;
  place_ = static_cast<ProgramPlace>(state.count(kProgramPlaceCount - 1));
  frame_count_ = static_cast<int>(state.count(1));
  has_frames_ = state.boolean();
  next_is_source_ = state.boolean();
  is_chained_ = state.boolean();
  is_stand_in_ = state.boolean();
  if (state.boolean()) weaker_ = state.unsigned_integer();
  if (!state.boolean()) return;
  open_.emplace();
  open_->cause = state.text();
  open_->line = state.text();
  open_->offset = state.unsigned_integer();
  open_->rank = state.optional_integer();
}

}  // namespace llmb::parser
