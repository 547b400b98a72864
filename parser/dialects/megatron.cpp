#include "parser/dialects/megatron.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "parser/dialects/fields.h"
#include "parser/dialects/step_line_grammar.h"
#include "parser/foundation/text.h"

namespace llmb::parser {

struct MegatronReader::IterationMarker {
  std::size_t begin = 0;  // of "iteration"
  std::int64_t iteration = 0;
  std::int64_t total = 0;
  std::size_t fields_begin = 0;  // behind the first '|'
};

namespace {

namespace grammar = step_line_grammar::megatron;

// Each part of a broken record has to hold one of these.
constexpr std::array<std::string_view, 9> kLiterals = {"elapsed time per iteration",
                                                       "consumed samples:",
                                                       "GPU utilization:",
                                                       "learning rate:",
                                                       "global batch size:",
                                                       "loss scale:",
                                                       "grad norm:",
                                                       "skipped iterations",
                                                       "nan iterations"};

// More Step Time lines than this without an iteration line: there will be none.
constexpr std::size_t kWaitingMax = 8;
// Other output may come between the parts of a broken record; not more than this.
constexpr std::uint64_t kContinuationBytesMax = 4096;

// Where the recipes' shell parsers take TFLOPS from.
constexpr std::int64_t kShellWindowFirst = 35;
constexpr std::int64_t kShellWindowLast = 44;

bool assign_count(StepSample& sample, std::string_view name, double value) {
  if (name == grammar::kConsumedSamples) {
    sample.consumed_samples = integer_of(value);
  } else if (name == grammar::kGlobalBatchSize) {
    sample.global_batch_size = integer_of(value);
  } else if (name == grammar::kSkippedIterations) {
    sample.skipped_iterations = integer_of(value);
  } else if (name == grammar::kNanIterations) {
    sample.nan_iterations = integer_of(value);
  } else {
    return false;
  }
  return true;
}

void assign(StepSample& sample, std::string_view name, const Number& number) {
  const double value = number.value;
  if (name == grammar::kStepTimeMs) {
    sample.step_time_s = from_thousandths(number);
    sample.step_time_resolution_s = half_last_digit(number.text) / 1000;
  } else if (name == grammar::kStepTimeS) {
    sample.step_time_s = value;
    sample.step_time_resolution_s = half_last_digit(number.text);
  } else if (name == grammar::kDeepSpeedTflops || holds(name, grammar::kPerGpuTflops)) {
    sample.tflops_per_gpu = known_tflops(value);
  } else if (name == grammar::kLearningRate) {
    sample.learning_rate = value;
  } else if (name == grammar::kLoss || name == grammar::kForkLoss) {
    sample.loss = value;
  } else if (name == grammar::kLossScale) {
    sample.loss_scale = value;
  } else if (name == grammar::kGradNorm) {
    sample.grad_norm = value;
  } else if (name == grammar::kParamsNorm) {
    sample.params_norm = value;
  } else if (!assign_count(sample, name, value)) {
    add_extra_field(sample, name, value);
  }
}

// Forks print this step's value and a mean: "13100.0/13240.9", "496.3 (avg 496.1)".
bool is_mean_beside(std::string_view suffix) {
  if (!take_literal(suffix, "/") && !take_literal(suffix, "(avg ")) return false;
  const auto mean = leading_number(suffix);
  return mean && (mean->rest.empty() || mean->rest == ")");
}

// "1.258B" of the forks' token counts; 0 for what is no suffix.
double suffix_factor(std::string_view suffix) {
  if (suffix.empty() || is_mean_beside(suffix)) return 1;
  if (suffix == "K") return 1e3;
  if (suffix == "M") return 1e6;
  if (suffix == "B") return 1e9;
  return suffix == "T" ? 1e12 : 0;
}

// "name: value |" fields. Behind the last one's '|' other processes' text may be glued, without
// the blank that stands between fields.
UnreadValues read_line_fields(std::string_view text, StepSample& sample) {
  UnreadValues unread;
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    const std::string_view field = text.substr(0, bar);
    const std::size_t colon = field.find(':');
    if (colon != std::string_view::npos) {
      const std::string_view name = trimmed(field.substr(0, colon));
      auto number = leading_number(field.substr(colon + 1), unread);
      const double factor = number ? suffix_factor(trimmed(number->rest)) : 0;
      if (factor != 0) {
        number->value *= factor;
        assign(sample, name, *number);
      } else if (name == grammar::kStepTimeMs || name == grammar::kStepTimeS) {
        unread.note(true, false);
      }
    }
    if (bar == std::string_view::npos || bar + 1 >= text.size() || text[bar + 1] != ' ') break;
    text.remove_prefix(bar + 1);
  }
  return unread;
}

bool begins_with_field(std::string_view text) {
  const std::size_t bar = text.find('|');
  const std::size_t colon = text.find(':');
  if (bar == std::string_view::npos || colon == std::string_view::npos || colon > bar) return false;
  const auto number = leading_number(text.substr(colon + 1, bar - colon - 1));
  return number && trimmed(number->rest).empty();
}

// "[2025-07-08 00:02:13.549782] " at the end of `text`, which is long where many records are glued
// on one line: no more than its end is looked at for each of them.
std::string instant_before(std::string_view text) {
  constexpr std::size_t kReach = 64;
  const std::string_view head = trimmed(text.substr(text.size() - std::min(text.size(), kReach)));
  if (!head.ends_with(']')) return {};
  const std::size_t bracket = head.rfind('[');
  if (bracket == std::string_view::npos) return {};
  return leading_instant(head.substr(bracket + 1)).instant;
}

const RE2& step_time_pattern() {
  static const RE2 pattern(R"(^Step Time\s*:\s*(-?[0-9.]+|nan|inf)s\b.{0,80}?GPU utilization:\s*)"
                           R"((-?[0-9.]+(?:e[+-]?[0-9]+)?|-?nan|-?inf)\s*(MODEL_)?TFLOP/s/GPU)");
  return pattern;
}

struct PrintedStepTime {
  std::string_view seconds;
  std::string_view tflops;
  bool is_model_tflops = false;  // of the unit's two spellings MODEL_TFLOP/s/GPU
};

// Moves `text` behind its blanks; false where nothing follows, or there are more of them than the
// pattern lets stand between (one was taken before).
bool take_blanks(std::string_view& text) {
  constexpr std::size_t kBlanksMax = 79;
  text.remove_prefix(std::min({text.find_first_not_of(" \t"), text.size(), kBlanksMax}));
  return !text.empty() && text.front() != ' ' && text.front() != '\t';
}

std::string_view take_decimal(std::string_view& text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789.", sign), text.size());
  const std::string_view taken = text.substr(0, end == sign ? 0 : end);
  text.remove_prefix(taken.size());
  return taken;
}

// What most of the lines that fit the pattern look like, at a fraction of its cost.
std::optional<PrintedStepTime> read_usual_step_time(std::string_view text) {
  PrintedStepTime printed;
  if (!take_literal(text, grammar::kStepTimeMarker) || !take_blanks(text)) return std::nullopt;
  if (!take_literal(text, ":") || !take_blanks(text)) return std::nullopt;
  printed.seconds = take_decimal(text);
  if (printed.seconds.empty() || !take_literal(text, "s ") || !take_blanks(text)) {
    return std::nullopt;
  }
  if (!take_literal(text, grammar::kGpuUtilization) || !take_blanks(text)) return std::nullopt;
  printed.tflops = take_decimal(text);
  if (printed.tflops.empty() || !take_blanks(text)) return std::nullopt;
  printed.is_model_tflops = take_literal(text, "MODEL_");
  if (!take_literal(text, "TFLOP/s/GPU")) return std::nullopt;
  return printed;
}

// At the beginning of `text`.
std::optional<PrintedStepTime> read_printed_step_time(std::string_view text) {
  if (const auto usual = read_usual_step_time(text)) return usual;
  re2::StringPiece seconds;
  re2::StringPiece tflops;
  re2::StringPiece model;
  const re2::StringPiece piece(text.data(), text.size());
  if (!RE2::PartialMatch(piece, step_time_pattern(), &seconds, &tflops, &model)) {
    return std::nullopt;
  }
  return PrintedStepTime{
      {seconds.data(), seconds.size()}, {tflops.data(), tflops.size()}, !model.empty()};
}

// Of a line that read_printed_step_time() does not know: where one of its two values goes on in a
// way that is not ours, it was to be known.
bool holds_foreign_number(std::string_view text) {
  const std::size_t tflops = text.find(grammar::kGpuUtilization);
  if (tflops == std::string_view::npos) return false;
  UnreadValues unread;
  std::string_view seconds = text.substr(grammar::kStepTimeMarker.size());
  seconds = trimmed(seconds);
  if (take_literal(seconds, ":")) leading_number(seconds, unread);
  leading_number(text.substr(tflops + grammar::kGpuUtilization.size()), unread);
  return unread.refusal().has_value();
}

}  // namespace

std::span<const std::string_view> MegatronReader::literals() const {
  return kLiterals;
}

std::optional<MegatronReader::IterationMarker> MegatronReader::find_marker(std::string_view text,
                                                                           std::size_t from) {
  for (std::size_t at = text.find(grammar::kMarker, from); at != std::string_view::npos;
       at = text.find(grammar::kMarker, at + 1)) {
    const bool is_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == ']';
    std::string_view rest = text.substr(at + grammar::kMarker.size());
    const auto iteration = is_word ? take_iteration(rest) : std::nullopt;
    if (!iteration) continue;
    rest = trimmed(rest);
    const auto total = take_literal(rest, "/") ? take_integer(rest) : std::nullopt;
    rest = trimmed(rest);
    if (!total || !take_literal(rest, "|")) continue;
    IterationMarker marker{at, *iteration, *total, 0};
    marker.fields_begin = static_cast<std::size_t>(rest.data() - text.data());
    return marker;
  }
  return std::nullopt;
}

void MegatronReader::read(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  std::size_t step_time = text.find(grammar::kStepTimeMarker);
  auto marker = find_marker(text, 0);
  if (!marker && step_time == std::string_view::npos) {
    const bool is_read = read_continuation(record, ledger);
    if (!is_read && holds(text, grammar::kStepTimeMs))
      ledger.refuse_line(LineRefusal::step_line_missing);
    return;
  }
  // Both kinds of record, in the order in which they stand on the line.
  while (marker || step_time != std::string_view::npos) {
    if (marker && marker->begin < step_time) {
      const auto next = find_marker(text, marker->fields_begin);
      const std::size_t end = std::min(step_time, next ? next->begin : std::string_view::npos);
      read_iteration(text.substr(0, end), *marker, record.offset, ledger);
      marker = next;
      continue;
    }
    const std::size_t next = text.find(grammar::kStepTimeMarker, step_time + 1);
    read_step_time_line(text.substr(step_time), next - step_time, record.offset, ledger);
    step_time = next;
  }
}

// `text` goes on to the line's end, the first `length` bytes of it to the next of its kind.
void MegatronReader::read_step_time_line(std::string_view text, std::size_t length,
                                         std::uint64_t offset, StepLedger& ledger) {
  const auto printed = read_printed_step_time(text);
  if (!printed) {
    if (holds_foreign_number(text.substr(0, length))) {
      ledger.refuse_line(LineRefusal::step_time_not_read);
    }
    return;
  }
  const auto time = leading_number(printed->seconds);
  const auto tflops = leading_number(printed->tflops);
  if (tflops) note_figure(tflops->value, printed->is_model_tflops);
  if (!time || !tflops) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  read_step_time({{time->value, known_tflops(tflops->value)}, half_last_digit(time->text), offset},
                 ledger);
}

void MegatronReader::read_iteration(std::string_view text, const IterationMarker& marker,
                                    std::uint64_t offset, StepLedger& ledger) {
  const std::string_view fields = text.substr(marker.fields_begin);
  // Validation and other progress may count iterations too.
  if (!holds(fields, grammar::kConsumedSamples) && !holds(fields, "elapsed time per iteration")) {
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.iteration = marker.iteration;
  sample.logged_at = instant_before(text.substr(0, marker.begin));
  const UnreadValues unread = read_line_fields(fields, sample);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  take_figures(sample);
  const std::int64_t steps_before = ledger.step_count();
  const StepSample added = ledger.add(std::move(sample));
  ledger.declare_last_iteration(marker.total);
  iteration_seen_ = true;
  if (ledger.step_count() == steps_before) return;  // the same line again
  open_until_.reset();
  if (!added.nan_iterations) {
    open_until_ = offset + text.size() + kContinuationBytesMax;
    open_is_paired_ = added.step_time_s.has_value();
  }
  if (added.step_time_s) pair_iteration(added, ledger);
}

void MegatronReader::note_figure(double tflops, bool is_model) {
  if (!std::isfinite(tflops)) return;
  (is_model ? figures_.model_tflops : figures_.tflops) = std::abs(tflops);
  figures_.newest_is_model = is_model;
}

void MegatronReader::take_figures(StepSample& sample) {
  const bool is_wanted = kShellWindowFirst <= sample.iteration &&
                         sample.iteration <= kShellWindowLast && sample.step_time_s;
  if (!is_wanted) return;
  const auto add = [&](const std::optional<double>& figure, std::string_view name) {
    if (figure) add_extra_field(sample, name, *figure);
  };
  if (figures_.newest_is_model) add(figures_.tflops, kStepTimeLineTflops);
  add(figures_.model_tflops, kStepTimeLineModelTflops);
  if (!figures_.newest_is_model) add(figures_.tflops, kStepTimeLineTflops);
  figures_ = {};
}

bool MegatronReader::read_continuation(const Record& record, StepLedger& ledger) {
  const std::string_view text = trimmed(record.text);
  if (!open_until_ || record.offset > *open_until_ || !begins_with_field(text)) return false;
  StepSample sample = *ledger.newest();
  const UnreadValues unread = read_line_fields(text, sample);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (sample.step_time_s && !open_is_paired_) sample.byte_offset = record.offset;
  ledger.amend_newest(sample);
  if (sample.nan_iterations) {
    open_until_.reset();
  } else {
    open_until_ = record.offset + text.size() + kContinuationBytesMax;
  }
  pairing_.replace_iteration(sample);
  if (sample.step_time_s && !open_is_paired_) {
    open_is_paired_ = true;
    pair_iteration(sample, ledger);
  }
  return true;
}

void MegatronReader::pair_waiting_lines(StepLedger& ledger) {
  for (const WaitingLine& waiting : waiting_) {
    for (const StepSample& changed : pairing_.add_step_time(waiting.line)) ledger.amend(changed);
  }
  waiting_.clear();
}

void MegatronReader::pair_iteration(const StepSample& sample, StepLedger& ledger) {
  pair_waiting_lines(ledger);
  for (const StepSample& changed : pairing_.add_iteration(sample)) ledger.amend(changed);
}

void MegatronReader::read_step_time(const WaitingLine& line, StepLedger& ledger) {
  step_time_seen_ = true;
  if (iteration_seen_) {
    pair_waiting_lines(ledger);
    for (const StepSample& changed : pairing_.add_step_time(line.line)) ledger.amend(changed);
    return;
  }
  if (steps_by_position_ > 0) {
    add_step_by_position(line, ledger);
    return;
  }
  waiting_.push_back(line);
  if (waiting_.size() > kWaitingMax) finish(ledger);
}

void MegatronReader::finish(StepLedger& ledger) {
  if (!iteration_seen_) {
    for (const WaitingLine& waiting : waiting_) add_step_by_position(waiting, ledger);
  }
  waiting_.clear();
}

void MegatronReader::add_step_by_position(const WaitingLine& line, StepLedger& ledger) {
  StepSample sample;
  sample.iteration = ++steps_by_position_;
  sample.iteration_is_logged = false;
  sample.step_time_s = line.line.step_time_s;
  sample.step_time_resolution_s = line.resolution_s;
  sample.tflops_per_gpu = line.line.tflops_per_gpu;
  sample.byte_offset = line.offset;
  ledger.add(std::move(sample));
}

void MegatronReader::save(StateWriter& state) const {
  state.boolean(step_time_seen_);
  state.boolean(iteration_seen_);
  pairing_.save(state);
  state.unsigned_integer(waiting_.size());
  for (const WaitingLine& waiting : waiting_) {
    state.number(waiting.line.step_time_s);
    state.optional_number(waiting.line.tflops_per_gpu);
    state.number(waiting.resolution_s);
    state.unsigned_integer(waiting.offset);
  }
  state.integer(steps_by_position_);
  state.boolean(open_until_.has_value());
  state.unsigned_integer(open_until_.value_or(0));
  state.boolean(open_is_paired_);
  state.optional_number(figures_.tflops);
  state.optional_number(figures_.model_tflops);
  state.boolean(figures_.newest_is_model);
}

void MegatronReader::restore(StateReader& state) {
  step_time_seen_ = state.boolean();
  iteration_seen_ = state.boolean();
  pairing_.restore(state);
  waiting_.resize(state.count(kWaitingMax));
  for (WaitingLine& waiting : waiting_) {
    waiting.line.step_time_s = state.number();
    waiting.line.tflops_per_gpu = state.optional_number();
    waiting.resolution_s = state.number();
    waiting.offset = state.unsigned_integer();
  }
  steps_by_position_ = state.integer();
  const bool is_open = state.boolean();
  const std::uint64_t open_until = state.unsigned_integer();
  if (is_open) open_until_ = open_until;
  open_is_paired_ = state.boolean();
  figures_.tflops = state.optional_number();
  figures_.model_tflops = state.optional_number();
  figures_.newest_is_model = state.boolean();
}

}  // namespace llmb::parser
