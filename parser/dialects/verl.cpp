#include "parser/dialects/verl.h"

#include <array>
#include <optional>
#include <utility>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "step:";
constexpr std::string_view kStepTime = "perf/time_per_step";
constexpr std::string_view kSupervisedTime = "train/time(s)";
constexpr std::string_view kTimedStep = "timing_s/step";  // the same time, by the step's own timer
constexpr std::string_view kSeparator = " - ";
constexpr std::array kLiterals = {kStepTime, kSupervisedTime, kTimedStep};
constexpr double kGigabyte = 1024.0 * 1024 * 1024;

// Of the hundred metrics of a line: where the time went, and how much was done in it.
bool is_worth_keeping(std::string_view name) {
  return name.starts_with("perf/") || name.starts_with("timing_s/") ||
         name == "response_length/mean" || name == "prompt_length/mean" ||
         name == "critic/rewards/mean";
}

void assign(StepSample& sample, std::string_view name, double value) {
  if (name == kStepTime || name == kSupervisedTime) {
    sample.step_time_s = value;
  } else if (name == "actor/pg_loss" || name == "train/loss") {
    sample.loss = value;
  } else if (name == "actor/grad_norm" || name == "train/grad_norm") {
    sample.grad_norm = value;
  } else if (name == "actor/lr" || name == "train/lr") {
    sample.learning_rate = value;
  } else if (name == "train/lr(1e-3)") {
    sample.learning_rate = value / 1000;
  } else if (name == "perf/max_memory_reserved_gb") {
    sample.memory_bytes_max = value * kGigabyte;
  } else if (name == "perf/max_memory_allocated_gb") {
    sample.memory_bytes_allocated = value * kGigabyte;
  } else if (name == "perf/throughput") {
    add_extra_field(sample, "tps", value);
  } else if (is_worth_keeping(name)) {
    add_extra_field(sample, name, value);
  }
}

// "48.7", or as NumPy prints a scalar since 2.0: "np.float64(48.7)".
std::optional<double> value_of(std::string_view text, UnreadValues& unread) {
  if (text.starts_with("np.")) text.remove_prefix(std::min(text.find('(') + 1, text.size()));
  const auto number = leading_number(text, unread);
  return number ? std::optional(number->value) : std::nullopt;
}

}  // namespace

std::span<const std::string_view> VerlReader::literals() const {
  return kLiterals;
}

void VerlReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t marker = record.text.find(kMarker);
  if (marker == std::string_view::npos) return;
  std::string_view rest = record.text.substr(marker + kMarker.size());
  const auto step = take_integer(rest);
  if (!step || !rest.starts_with(kSeparator)) return;
  if (!is_iteration(*step)) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  UnreadValues unread;
  std::optional<double> timed_step_s;
  while (take_literal(rest, kSeparator)) {
    const std::size_t end = rest.find(kSeparator);
    const std::string_view field = rest.substr(0, end);
    const std::size_t colon = field.rfind(':');
    if (colon != std::string_view::npos) {
      const auto value = value_of(field.substr(colon + 1), unread);
      const std::string_view name = field.substr(0, colon);
      if (value) assign(sample, name, *value);
      if (name == kTimedStep) timed_step_s = value;
    }
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  }
  if (!sample.step_time_s) sample.step_time_s = timed_step_s;
  if (!sample.step_time_s) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
}

}  // namespace llmb::parser
