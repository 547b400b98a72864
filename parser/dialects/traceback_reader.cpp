#include "parser/dialects/traceback_reader.h"

#include <algorithm>
#include <array>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/failure_class.h"
#include "parser/dialects/line_weight.h"
#include "parser/foundation/text.h"
#include "parser/foundation/text_hash.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

using Basis = ExceptionVerdict::Basis;

// From one line of a traceback to the next: other ranks print in between, and messages are long.
constexpr int kTracebackReach = 100;
constexpr std::string_view kTracebackHead = "Traceback (most recent call last)";
constexpr std::string_view kIgnored = "Exception ignored in";
// Python prints so what a hook raised, and ends as it would have.
constexpr std::string_view kOfHooks = "Error in atexit._run_exitfuncs";
constexpr std::string_view kBlanks = " \t|+";
// Who caught an exception says at once what comes next.
constexpr int kSurvivalLines = 2;

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

// "CheckpointException: CheckpointException ranks:dict_keys([17, 21])": those ranks' tracebacks
// follow.
bool stands_for_ranks(std::string_view text) {
  return holds(text, "ranks:dict_keys(");
}

// "RuntimeError: " and "RuntimeError: tracing error at step 31:".
bool leaves_message_open(std::string_view text) {
  return trimmed(text).ends_with(':');
}

// "GatedRepoError: 403 Client Error. (Request ID: Root=1-6814)": the next line says why, whereas
// the class is told already.
bool names_a_request_only(std::string_view text) {
  return holds(text, "GatedRepoError: ") && holds(text, " (Request ID: ") &&
         trimmed(text).ends_with(')');
}

// "FileNotFoundError: [Errno 2] …": programs ask whether something is there by trying, and where
// the other way fails, too, that one says why.
bool may_be_an_attempt(std::string_view text) {
  return holds(text, "FileNotFoundError: ") || holds(text, "FileExistsError: ");
}

// Whether a model hub's client says with its own exception what its HTTP library had raised, or
// that it finds no file: "HfHubHTTPError: 429 Client Error …", "OSError: We couldn't connect to …".
bool is_told_again_by_hub(std::string_view raised, std::string_view text) {
  return (holds(raised, ".HTTPError: ") && holds(text, ".HfHubHTTPError: ")) ||
         (holds(raised, "LocalEntryNotFoundError: ") &&
          holds(text, "OSError: We couldn't connect to"));
}

bool has_words(std::string_view text) {
  return std::count_if(text.begin(), text.end(), is_letter) >= 3;
}

// "worker-3 main " and "ERROR 08-12 11:56:08 [core.py:633] ": what stands before a traceback's
// head, where that is no word about the traceback itself.
std::string_view prefix_of_head(std::string_view text) {
  constexpr std::size_t kLengthMax = 120;
  const std::size_t at = text.find(kTracebackHead);
  if (at == std::string_view::npos || at > kLengthMax) return {};
  const std::string_view prefix = text.substr(0, at);
  // With a number in it, it may be a host's or a rank's name.
  const bool has_number = std::any_of(prefix.begin(), prefix.end(), is_digit);
  const bool may_be_a_name = prefix.ends_with(' ') && !prefix.ends_with(": ");
  const bool is_of_traceback = trimmed(prefix, kBlanks).empty() ||
                               (!may_be_a_name && !has_number) || holds(prefix, "Original ") ||
                               holds(prefix, "Exception Group") || holds(prefix, "─");
  return is_of_traceback ? std::string_view() : prefix;
}

// "node-a: ": one word, which may be a host's name, or tell of the traceback: the next line shows.
// Empty where there is none, and of words that loggers have.
std::string_view possible_name(std::string_view text) {
  const std::size_t at = text.find(kTracebackHead);
  const std::string_view prefix = at == std::string_view::npos ? "" : text.substr(0, at);
  const bool is_one_word = prefix.size() > 2 && prefix.find(' ') == prefix.size() - 1;
  if (!is_one_word || !prefix.ends_with(": ")) return {};
  constexpr auto kNoNames =
      std::to_array<std::string_view>({"error", "fatal", "critical", "exception", "warning", "warn",
                                       "info", "debug", "stderr", "stdout", "root"});
  const std::string word = lower(prefix.substr(0, prefix.size() - 2));
  return std::ranges::find(kNoNames, word) != kNoNames.end() ? std::string_view() : prefix;
}

// Whether a line begins as `prefix`, whose digits may be others where it holds a time of day.
bool begins_as(std::string_view text, std::string_view prefix, bool has_time) {
  if (text.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char a, char b) {
    return a == b || (has_time && is_digit(a) && is_digit(b));
  });
}

bool holds_time_of_day(std::string_view prefix) {
  for (std::size_t at = prefix.find(':'); at != std::string_view::npos;
       at = prefix.find(':', at + 1)) {
    const bool has_next = at + 3 < prefix.size() && prefix[at + 3] == ':';
    if (has_next && at >= 2 && is_digit(prefix[at - 1])) return true;
  }
  return false;
}

// The labels that stand before a line, without stamps: these are others on every line.
std::uint64_t hash_of_labels(std::string_view raw, std::string_view text) {
  if (!raw.ends_with(text)) return 0;
  std::string_view labels = raw.substr(0, raw.size() - text.size());
  std::uint64_t hash = 0;
  while (!labels.empty()) {
    const std::size_t end = std::min(labels.find(' '), labels.size() - 1) + 1;
    const std::string_view word = labels.substr(0, end);
    labels.remove_prefix(end);
    const bool has_digit = is_digit(word.front()) || (word.size() > 1 && is_digit(word[1]));
    const bool is_stamp = has_digit && holds_time_of_day(word);
    if (!is_stamp) hash = hash_text(word, hash + 1);
  }
  return hash;
}

// "ValueError: x" and "zmq.Again", without a look at the words.
bool has_form_of_exception(std::string_view text) {
  text = trimmed(text, kBlanks);
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_name);
  return end != text.begin() && (end == text.end() || *end == ':');
}

bool is_head_of_exception(std::string_view text) {
  return has_form_of_exception(text) && is_exception(text);
}

// The lines of a traceback that a logger of JSON put into one string:
// {"exc":"Traceback (most recent call last):\\n  File \\"train.py\\", line 4\\nKeyError: 2\\n"}.
// Empty where there is none.
std::vector<std::string> lines_in_a_string(std::string_view text) {
  std::vector<std::string> lines;
  const std::size_t head = text.find(kTracebackHead);
  if (head == std::string_view::npos) return lines;
  lines.emplace_back();
  for (std::size_t at = head; at < text.size() && text[at] != '"'; ++at) {
    const bool is_escaped = text[at] == '\\' && at + 1 < text.size();
    if (is_escaped) ++at;
    if (is_escaped && text[at] == 'n') {
      lines.emplace_back();
    } else {
      lines.back() += text[at];
    }
  }
  constexpr std::size_t kLinesMin = 3;  // head, frame, exception
  if (lines.size() < kLinesMin) lines.clear();
  return lines;
}

}  // namespace

bool announces_traceback(std::string_view text) {
  return holds(text, kIgnored) || holds(text, kOfHooks) || holds(text, "(_pin_memory_loop)");
}

void OpenTraceback::go_on() {
  lines_left_ = kTracebackReach;
}

void OpenTraceback::ignore() {
  *this = {};
  is_ignored_ = true;
  go_on();
}

void OpenTraceback::begin(std::string_view head, std::uint64_t offset) {
  if (read_head(head, offset)) go_on();
}

void OpenTraceback::tick() {
  if (--lines_left_ <= 0) *this = {};
}

void OpenTraceback::read(const Record& record, std::string_view raw, std::string_view text,
                         bool has_own_prefix, std::optional<LogEvent> event, StepLedger& ledger) {
  const bool is_of_traceback = read_head(text, record.offset) || read_frame(text);
  if (is_of_traceback || event) survival_lines_left_ = 0;
  read_survival(record, text, ledger);
  const bool had_frames = has_frames_;
  if (is_of_traceback) go_on();
  if (is_ignored_) {
    const bool is_end = !is_of_traceback && has_frames_ && has_form_of_exception(text);
    if (is_end) *this = {};
    // Words that name a class tell something all the same: what could not be built, say.
    const bool says_nothing =
        event && (event->cause == "python_traceback" || event->cause == "python_exception");
    if (says_nothing) return;
  } else if (!is_of_traceback && is_open()) {
    if (links_two_exceptions(text)) {
      is_chained_ = true;
      if (is_attempt_ && !holds(text, "During handling")) {
        is_attempt_ = false;
        weaker_.reset();
      }
      go_on();
    } else if (read_message(record, text, ledger) ||
               read_exception(record, raw, text, has_own_prefix, event, ledger)) {
      go_on();
    }
  }
  if (!event) return;
  // Its frames are done with where it was their exception.
  if (had_frames && !has_frames_) return tell(std::move(*event), ledger);
  ledger.add_event(std::move(*event));
}

void OpenTraceback::tell(LogEvent event, StepLedger& ledger) {
  survival_lines_left_ = kSurvivalLines;
  told_cause_ = event.cause;
  told_offset_ = event.offset;
  const bool is_survived = event.kind == LogEvent::Kind::failure && owner_ == FrameOwner::helper &&
                           ledger.all_is_trained();
  LogEvent survival = event;
  ledger.add_event(std::move(event));
  if (!is_survived) return;
  survival.cause = kWentOn;
  ledger.add_event(std::move(survival));
}

// What the exception tells is kept as a warning.
void OpenTraceback::read_survival(const Record& record, std::string_view text, StepLedger& ledger) {
  if (survival_lines_left_ == 0 || !has_words(text)) return;
  --survival_lines_left_;
  if (!tells_that_it_goes_on(text) || links_two_exceptions(text)) return;
  survival_lines_left_ = 0;
  ledger.retract_failure(told_offset_);
  ledger.retract_failure(head_offset_);
  ledger.add_event(failure_of_line(record, record.text, told_cause_));
}

bool OpenTraceback::read_head(std::string_view text, std::uint64_t offset) {
  if (!holds(text, kTracebackHead)) return false;
  if (!is_chained_) head_offset_ = offset;
  if (!is_chained_ && !is_stand_in_) weaker_.reset();
  if (!is_chained_) is_attempt_ = false;
  if (!is_stand_in_) place_ = ProgramPlace::unknown;
  if (!is_stand_in_ && !is_chained_) owner_ = FrameOwner::program;
  frame_count_ = 0;
  has_frames_ = next_is_source_ = false;
  open_.reset();
  return true;
}

bool OpenTraceback::read_frame(std::string_view text) {
  const TracebackFrame frame = read_traceback_frame(text);
  if (!frame.file.empty()) {
    place_ = place_after_frame(place_, frame, frame_count_);
    owner_ = std::max(owner_, owner_of(frame));
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

bool OpenTraceback::read_message(const Record& record, std::string_view text, StepLedger& ledger) {
  if (!open_ || !has_words(text) || is_head_of_exception(text)) return false;
  LogEvent event = std::move(*open_);
  open_.reset();
  ledger.retract_failure(event.offset);
  const std::string_view words = trimmed(text, kBlanks);
  const std::string whole = event.line + " " + std::string(words);
  const ExceptionVerdict verdict = judge_exception(without_collector_prefix(whole), place_);
  const bool is_told = names_a_request_only(event.line);
  if (verdict.basis != Basis::no_exception && !is_told) event.cause = verdict.cause;
  event.line = shortened_line(words);
  event.offset = record.offset;
  is_attempt_ = false;
  is_stand_in_ = stands_for_a_worker(whole);
  if (is_stand_in_) place_ = ProgramPlace::unknown;
  const bool may_say_less = is_stand_in_ || verdict.basis == Basis::place;
  weaker_ = may_say_less ? std::optional(event.offset) : std::nullopt;
  tell(std::move(event), ledger);
  return true;
}

bool OpenTraceback::read_exception(const Record& record, std::string_view raw,
                                   std::string_view text, bool has_own_prefix,
                                   std::optional<LogEvent>& event, StepLedger& ledger) {
  const bool may_end_frames = has_frames_ && !text.starts_with("  ") && has_form_of_exception(text);
  if (event ? event->kind != LogEvent::Kind::failure : !may_end_frames) return false;
  const ExceptionVerdict verdict = judge_exception(text, place_);
  if (verdict.basis == Basis::no_exception) return false;
  if (!event) event = failure_of_line(record, raw, verdict.cause_by_words);
  // Where a sign names the class, it says more than the words, which it may not have reached.
  Basis basis = Basis::words;
  const bool was_out_of_reach = has_own_prefix && event->cause == "python_exception";
  if (event->cause == verdict.cause_by_words || was_out_of_reach) {
    event->cause = verdict.cause;
    basis = verdict.basis;
  }
  // Of two that belong together the first is nearer to the cause, but a place tells less than
  // words do, and who waited for a worker less than the worker.
  const bool says_more = basis == Basis::words || basis == Basis::refusal;
  const bool fails_too = is_chained_ && is_attempt_ && holds(text, "Error: [Errno ");
  if (weaker_ && (is_stand_in_ || fails_too)) {
    ledger.retract_failure(*weaker_);
  } else if (weaker_ && is_chained_ && says_more && !is_attempt_) {
    ledger.retract_failure(*weaker_, event->cause);
  }
  const LogEvent* const told = is_chained_ ? ledger.failure_at(told_offset_) : nullptr;
  if (told != nullptr && told->cause == event->cause && is_told_again_by_hub(told->line, text)) {
    ledger.retract_failure(told_offset_);
  }
  is_chained_ = false;
  const bool is_of_worker = stands_for_a_worker(text);
  is_stand_in_ = is_of_worker || stands_for_ranks(text);
  if (is_of_worker) place_ = ProgramPlace::data;
  is_attempt_ = !is_stand_in_ && may_be_an_attempt(text);
  const bool may_say_less = is_stand_in_ || is_attempt_ || basis == Basis::place;
  weaker_ = may_say_less ? std::optional(event->offset) : std::nullopt;
  open_.reset();
  const bool is_open = basis != Basis::words && leaves_message_open(text);
  if (is_open || names_a_request_only(text)) open_ = event;
  has_frames_ = false;
  return true;
}

void OpenTraceback::save(StateWriter& state) const {
  state.integer(lines_left_);
  if (lines_left_ == 0) return;
  state.integer(static_cast<int>(place_));
  state.integer(static_cast<int>(owner_));
  state.integer(frame_count_);
  state.boolean(has_frames_);
  state.boolean(next_is_source_);
  state.boolean(is_ignored_);
  state.boolean(is_chained_);
  state.boolean(is_stand_in_);
  state.boolean(is_attempt_);
  state.boolean(weaker_.has_value());
  if (weaker_) state.unsigned_integer(*weaker_);
  state.integer(survival_lines_left_);
  state.text(told_cause_);
  state.unsigned_integer(told_offset_);
  state.unsigned_integer(head_offset_);
  state.boolean(open_.has_value());
  if (!open_) return;
  state.text(open_->cause);
  state.text(open_->line);
  state.unsigned_integer(open_->offset);
  state.optional_integer(open_->rank);
}

void OpenTraceback::restore(StateReader& state) {
  lines_left_ = static_cast<int>(state.count(kTracebackReach));
  if (lines_left_ == 0) return;
  place_ = static_cast<ProgramPlace>(state.count(kProgramPlaceCount - 1));
  owner_ = static_cast<FrameOwner>(state.count(kFrameOwnerCount - 1));
  frame_count_ = static_cast<int>(state.count(1));
  has_frames_ = state.boolean();
  next_is_source_ = state.boolean();
  is_ignored_ = state.boolean();
  is_chained_ = state.boolean();
  is_stand_in_ = state.boolean();
  is_attempt_ = state.boolean();
  if (state.boolean()) weaker_ = state.unsigned_integer();
  survival_lines_left_ = static_cast<int>(state.count(kSurvivalLines));
  told_cause_ = state.text();
  told_offset_ = state.unsigned_integer();
  head_offset_ = state.unsigned_integer();
  if (!state.boolean()) return;
  open_.emplace();
  open_->cause = state.text();
  open_->line = state.text();
  open_->offset = state.unsigned_integer();
  open_->rank = state.optional_integer();
}

bool TracebackReader::read_escaped(const Record& record, std::string_view raw, StepLedger& ledger) {
  OpenTraceback traceback;
  bool had_frames = false;
  for (const std::string& line : lines_in_a_string(record.text)) {
    traceback.read({line, record.offset}, raw, line, false, std::nullopt, ledger);
    had_frames = had_frames || traceback.waits_for_exception();
  }
  return had_frames && !traceback.waits_for_exception();
}

void TracebackReader::read(const Record& record, std::string_view raw,
                           std::optional<LogEvent> event, StepLedger& ledger) {
  if (event && event->cause == "python_traceback" && read_escaped(record, raw, ledger)) return;
  if (first_lines_left_ > 0) --first_lines_left_;
  for (Printer& printer : printers_) printer.traceback.tick();
  std::erase_if(printers_, [](const Printer& one) { return !one.traceback.is_open(); });
  std::string_view text = without_collector_prefix(record.text);
  const std::uint64_t labels = hash_of_labels(raw, text);
  add_possible_printer(labels, text, record.offset);
  Printer* printer = find_printer(labels, text);
  if (printer == nullptr) {
    const std::string_view prefix = prefix_of_head(text);
    if (holds(text, kTracebackHead) || !read_traceback_frame(text).file.empty()) {
      text.remove_prefix(prefix.size());
      printer = &add_printer(labels, prefix);
    }
  }
  if (!event && announces_traceback(text)) {
    if (printer == nullptr) printer = &add_printer(labels, {});
    printer->traceback.ignore();
  } else if (printer != nullptr) {
    printer->traceback.read(record, raw, text, !printer->prefix.empty(), std::move(event), ledger);
  } else if (event) {
    ledger.add_event(std::move(*event));
  }
}

TracebackReader::Printer* TracebackReader::find_printer(std::uint64_t labels,
                                                        std::string_view& text) {
  // The longest prefix says most of who it is: of several with a time the newest.
  auto best = printers_.end();
  for (const bool any_digits : {false, true}) {
    for (auto one = printers_.begin(); one != printers_.end(); ++one) {
      const bool fits = one->labels == labels &&
                        begins_as(text, one->prefix, any_digits && holds_time_of_day(one->prefix));
      const bool is_better = best == printers_.end() || one->prefix.size() >= best->prefix.size();
      if (fits && is_better) best = one;
    }
    if (best != printers_.end() && !best->prefix.empty()) break;
  }
  if (best == printers_.end()) return nullptr;
  text.remove_prefix(best->prefix.size());
  std::rotate(best, best + 1, printers_.end());
  return &printers_.back();
}

TracebackReader::Printer& TracebackReader::add_printer(std::uint64_t labels,
                                                       std::string_view prefix) {
  if (printers_.size() == kPrintersMax) printers_.erase(printers_.begin());
  printers_.push_back({labels, std::string(prefix), {}});
  return printers_.back();
}

void TracebackReader::add_possible_printer(std::uint64_t labels, std::string_view text,
                                           std::uint64_t offset) {
  const std::string_view name = possible_name(text);
  if (name.empty()) return;
  const Printer* const known = find_printer(labels, text);
  if (known != nullptr && known->prefix == name) return;
  add_printer(labels, name).traceback.begin(text, offset);
  // A word about the traceback: the lines that follow are nobody's, or those of whom is known.
  if (known == nullptr) add_printer(labels, {}).traceback.begin(text, offset);
}

void TracebackReader::save(StateWriter& state) const {
  state.integer(first_lines_left_);
  state.unsigned_integer(printers_.size());
  for (const Printer& printer : printers_) {
    state.unsigned_integer(printer.labels);
    state.text(printer.prefix);
    printer.traceback.save(state);
  }
}

void TracebackReader::restore(StateReader& state) {
  first_lines_left_ = static_cast<int>(state.count(kFirstLines));
  printers_.assign(state.count(kPrintersMax), {});
  for (Printer& printer : printers_) {
    printer.labels = state.unsigned_integer();
    printer.prefix = state.text();
    printer.traceback.restore(state);
  }
}

}  // namespace llmb::parser
