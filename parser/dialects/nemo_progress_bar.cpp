#include "parser/dialects/nemo_progress_bar.h"

#include <array>
#include <cmath>

#include "parser/dialects/fields.h"
#include "parser/dialects/fill_missing.h"

namespace llmb::parser {

// "Epoch E: … n/total [elapsed<remaining" as far as it is needed.
struct BarPosition {
  std::int64_t epoch = 0;
  std::int64_t count = 0;
  std::optional<std::int64_t> total;
  std::string_view postfix;  // after the time: "v_num=, reduced_train_loss=11.20, …"
};

namespace {

constexpr std::string_view kBarMarker = "Epoch ";
constexpr std::string_view kBarStep = "global_step=";
constexpr std::string_view kDllMarker = "DLL 20";  // "DLL 2025-06-12 …"
constexpr std::string_view kStepTime = "train_step_timing in s";
constexpr std::string_view kRunTflops = "TFLOPs per sec per GPU=";
constexpr std::string_view kDeltaTiming = "train_step_timing in s=";
// The experiment's version: of one that is an instant the last four characters, "0-11".
constexpr FieldSyntax kBarSyntax = {", ", "=", "v_num"};
constexpr int kBarSignificantDigits = 3;
constexpr std::int64_t kStepMinusCount = -1;  // steps count from 0

constexpr std::array kLiterals = {kBarStep, kStepTime, kRunTflops, kDllMarker};

void assign(StepSample& sample, std::string_view name, const Number& number) {
  if (name == kStepTime) {
    sample.step_time_s = number.value;
    sample.step_time_resolution_s = half_last_digit(number.text);
  } else if (name == "reduced_train_loss") {
    sample.loss = number.value;
  } else if (name == "lr") {
    sample.learning_rate = number.value;
  } else if (name == "grad_norm") {
    sample.grad_norm = number.value;
  } else if (name == "global_step") {
    sample.global_step = integer_of(number.value);
  } else if (name == "consumed_samples") {
    sample.consumed_samples = integer_of(number.value);
  } else if (name == "global_batch_size") {
    sample.global_batch_size = integer_of(number.value);
  } else if (name == "epoch") {
    if (const auto epoch = integer_of(number.value)) {
      sample.epoch = static_cast<std::int32_t>(*epoch);
    }
  } else {
    add_extra_field(sample, name, number.value);
  }
}

void note(UnreadValues& unread, std::string_view name, bool is_number) {
  unread.note(name == kStepTime, is_number);
}

std::optional<BarPosition> bar_position(std::string_view text) {
  BarPosition bar;
  text.remove_prefix(kBarMarker.size());
  const auto epoch = take_integer(text);
  if (!epoch || *epoch < 0 || *epoch > INT32_MAX || !text.starts_with(":")) return std::nullopt;
  bar.epoch = *epoch;
  // The count stands between the bar's second '|' and '['; the bar itself holds neither. Without
  // a total there is no bar: "Epoch 1: : 12it [00:04, …".
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::string_view head = text.substr(0, bracket);
  const std::size_t slash = head.rfind('/');
  std::string_view count = head.substr(0, slash);
  if (slash == std::string_view::npos) {
    count = trimmed(count);
    if (!count.ends_with("it")) return std::nullopt;
    count.remove_suffix(2);
  }
  const std::size_t digits = count.find_last_not_of("0123456789");
  count.remove_prefix(digits == std::string_view::npos ? 0 : digits + 1);
  const auto n = take_integer(count);
  if (!n || *n > kIterationMax) return std::nullopt;
  bar.count = *n;
  if (slash != std::string_view::npos) {
    std::string_view total = head.substr(slash + 1);
    bar.total = take_integer(total);  // "?" where it is unknown
  }
  bar.postfix = text.substr(bracket + 1);
  return bar;
}

}  // namespace

std::span<const std::string_view> NemoProgressBarReader::literals() const {
  return kLiterals;
}

void NemoProgressBarReader::read(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  if (const std::size_t at = text.find(kRunTflops); at != std::string_view::npos) {
    const auto number = leading_number(text.substr(at + kRunTflops.size()));
    const auto tflops = number ? known_tflops(number->value) : std::nullopt;  // -1.00: unknown
    if (tflops) ledger.report_tflops_per_gpu(*tflops);
    return;
  }
  // Bars and DLLogger lines may be glued in any number: "…=44.90]Epoch 0: :", "…=44.90]DLL 2025".
  std::size_t begin = std::min(text.find(kBarMarker), text.find(kDllMarker));
  bool is_read = false;
  while (begin != std::string_view::npos) {
    const std::size_t next =
        std::min(text.find(kBarMarker, begin + 1), text.find(kDllMarker, begin + 1));
    const std::string_view part = text.substr(begin, next - begin);
    if (part.starts_with(kDllMarker)) {
      read_dllogger(part, record.offset, ledger);
    } else {
      read_bar(part, record.offset, ledger);
    }
    is_read = true;
    begin = next;
  }
  if (!is_read) read_delta_timing(text, record.offset, ledger);
}

std::optional<std::int64_t> NemoProgressBarReader::step_of_bar(const BarPosition& bar,
                                                               double printed_step,
                                                               std::string_view printed) {
  const bool is_own_values = bar_count_ == bar.count;  // second print of this count
  const bool is_first = !bar_count_;
  bar_count_ = bar.count;
  if (is_own_values && !counts_come_twice_) {
    counts_come_twice_ = true;
    step_minus_count_.reset();  // what first prints had shown
  }
  if (printed.find_first_of("eE") == std::string_view::npos) {
    const auto step = integer_of(printed_step);
    if (step && (is_own_values || !counts_come_twice_)) step_minus_count_ = *step - bar.count;
    return step;
  }
  // 1996 to 2004 all print "2e+3": the count says which, once its own values are shown. A log that
  // begins here has not shown how the two differ; then as a run from its beginning has it.
  // A bar that prints each count once has its own values at once; its first print does not tell.
  if (!is_own_values && (counts_come_twice_ || is_first)) return std::nullopt;
  const std::int64_t step = bar.count + step_minus_count_.value_or(kStepMinusCount);
  const bool agrees = std::abs(static_cast<double>(step) - printed_step) <=
                      half_significant_digit(printed_step, kBarSignificantDigits);
  if (!step_minus_count_ && !agrees) return std::nullopt;
  return step;
}

void NemoProgressBarReader::read_bar(std::string_view text, std::uint64_t offset,
                                     StepLedger& ledger) {
  if (text.find(kBarStep) == std::string_view::npos) return;  // no values yet
  const auto bar = bar_position(text);
  if (!bar) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.epoch = static_cast<std::int32_t>(bar->epoch);
  // Where the bracket does not close, the last field may be cut.
  const std::size_t close = bar->postfix.find(']');
  std::string_view postfix = bar->postfix.substr(0, close);
  if (close == std::string_view::npos) {
    const std::size_t comma = postfix.rfind(", ");
    postfix = postfix.substr(0, comma == std::string_view::npos ? 0 : comma);
    ledger.refuse_line(LineRefusal::fields_cut_off);
  }
  std::optional<std::int64_t> step;
  UnreadValues unread;
  read_fields(
      postfix, kBarSyntax,
      [&](std::string_view name, const Number& number) {
        if (name == "global_step") step = step_of_bar(*bar, number.value, number.text);
        // Rounded to 3 digits, a count of samples is none.
        const bool is_rounded = number.text.find_first_of("eE") != std::string_view::npos;
        if (name != "consumed_samples" || !is_rounded) assign(sample, name, number);
      },
      [&](std::string_view name, bool is_number) { note(unread, name, is_number); });
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (!step || !is_iteration(*step)) return;
  bar_seen_ = true;
  sample.iteration = *step;
  sample.global_step = *step;
  if (sample.step_time_s) {
    sample.step_time_resolution_s =
        half_significant_digit(*sample.step_time_s, kBarSignificantDigits);
  }
  const auto& newest = ledger.newest();
  if (newest && newest->iteration == *step) {
    StepSample merged = *newest;
    if (newest_is_precise_) {
      fill_missing(merged, sample);
    } else {
      fill_missing(sample, *newest);
      sample.segment = merged.segment;
      sample.byte_offset = merged.byte_offset;
      merged = std::move(sample);
    }
    ledger.amend_newest(std::move(merged));
  } else {
    newest_is_precise_ = false;
    ledger.add(std::move(sample));
  }
  if (bar->total && *bar->total > 0) ledger.declare_last_iteration(*bar->total - 1);
}

void NemoProgressBarReader::read_dllogger(std::string_view text, std::uint64_t offset,
                                          StepLedger& ledger) {
  text.remove_prefix(std::string_view("DLL ").size());
  StepSample sample;
  sample.byte_offset = offset;
  const PrintedInstant printed = leading_instant(text);
  sample.logged_at = printed.instant;
  text.remove_prefix(printed.length);
  // " - 12 reduced_train_loss : 11.02  lr : 0.0  …": "PARAMETER" in the place of 12 is no step.
  std::optional<std::int64_t> step;
  if (take_literal(text, " - ")) step = take_integer(text);
  if (!step) return;
  UnreadValues unread;
  read_fields(
      text, {"  ", " : "},
      [&](std::string_view name, const Number& number) { assign(sample, name, number); },
      [&](std::string_view name, bool is_number) { note(unread, name, is_number); });
  if (!sample.global_step && !sample.step_time_s) return;  // another logger's line
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  sample.step_time_resolution_s = 0;  // all digits are printed
  sample.iteration = sample.global_step.value_or(*step);
  if (!is_iteration(sample.iteration)) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  bar_seen_ = true;
  newest_is_precise_ = true;
  const auto& newest = ledger.newest();
  if (!newest || newest->iteration != sample.iteration) {
    ledger.add(std::move(sample));
    return;
  }
  sample.segment = newest->segment;
  sample.byte_offset = newest->byte_offset;
  fill_missing(sample, *newest);
  ledger.amend_newest(std::move(sample));
}

// NeMo 1's DeltaTimingCallback: "Step 12: train_step_timing in s=4.33". Only where no bar tells.
void NemoProgressBarReader::read_delta_timing(std::string_view text, std::uint64_t offset,
                                              StepLedger& ledger) {
  const std::size_t at = text.find(kDeltaTiming);
  const std::size_t marker = text.substr(0, at).rfind("Step ");
  if (bar_seen_ || at == std::string_view::npos || marker == std::string_view::npos) return;
  std::string_view rest = text.substr(marker + 5);
  const auto step = take_iteration(rest);
  const auto number = leading_number(text.substr(at + kDeltaTiming.size()));
  if (!step || !rest.starts_with(": ")) return;
  if (!number) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.iteration = *step;
  assign(sample, kStepTime, *number);
  ledger.add(std::move(sample));
}

void NemoProgressBarReader::save(StateWriter& state) const {
  state.boolean(bar_seen_);
  state.optional_integer(bar_count_);
  state.optional_integer(step_minus_count_);
  state.boolean(counts_come_twice_);
  state.boolean(newest_is_precise_);
}

void NemoProgressBarReader::restore(StateReader& state) {
  bar_seen_ = state.boolean();
  bar_count_ = state.optional_integer();
  step_minus_count_ = state.optional_integer();
  counts_come_twice_ = state.boolean();
  newest_is_precise_ = state.boolean();
}

}  // namespace llmb::parser
