#include "parser/dialects/nanotron.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "iteration: ";
constexpr std::string_view kTime = "time_per_iteration_ms";
constexpr std::string_view kEarlierTime = "elapsed_time_per_iteration_ms";
constexpr std::string_view kLiteral = "time_per_iteration_ms: ";  // in both
constexpr std::array kLiterals = {kLiteral};
constexpr int kPrintedDigits = 3;

// "54.6K" -> 54600; nothing for what is no number with such a suffix.
std::optional<double> value_of(std::string_view text, UnreadValues& unread) {
  const auto number = leading_number(text, unread);
  if (!number) return std::nullopt;
  const std::string_view suffix = trimmed(number->rest);
  if (suffix.empty()) return number->value;
  if (suffix == "K") return number->value * 1e3;
  if (suffix == "M") return number->value * 1e6;
  if (suffix == "B" || suffix == "G") return number->value * 1e9;
  if (suffix == "T") return number->value * 1e12;
  return std::nullopt;
}

void assign(StepSample& sample, std::string_view name, double value) {
  if (name == kTime || name == kEarlierTime) {
    sample.step_time_s = value / 1000;
    sample.step_time_resolution_s = half_significant_digit(*sample.step_time_s, kPrintedDigits);
  } else if (name == "lm_loss") {
    sample.loss = value;
  } else if (name == "grad_norm") {
    sample.grad_norm = value;
  } else if (name == "lr") {
    sample.learning_rate = value;
  } else if (name == "model_tflops_per_gpu") {
    sample.tflops_per_gpu = known_tflops(value);
  } else if (name == "cuda_max_memory_reserved") {
    sample.memory_bytes_max = value;
  } else if (name == "cuda_memory_allocated") {
    sample.memory_bytes_allocated = value;
  } else if (name == "global_batch_size") {  // of some versions in tokens
    add_extra_field(sample, "printed_global_batch_size", value);
  } else if (name == "tokens_per_sec_per_gpu") {
    add_extra_field(sample, "tps", value);
  } else {
    add_extra_field(sample, name, value);
  }
}

}  // namespace

std::span<const std::string_view> NanotronReader::literals() const {
  return kLiterals;
}

void NanotronReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t marker = record.text.find(kMarker);
  if (marker == std::string_view::npos) {
    ledger.refuse_line(LineRefusal::step_line_missing);
    return;
  }
  std::string_view rest = record.text.substr(marker + kMarker.size());
  const auto iteration = take_iteration(rest);
  rest = trimmed(rest);
  const auto total = take_literal(rest, "/") ? take_integer(rest) : std::nullopt;
  if (!iteration || !total) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *iteration;
  UnreadValues unread;
  for (const std::string_view field : split(rest, '|')) {
    const std::size_t colon = field.find(": ");
    if (colon == std::string_view::npos) continue;
    const auto value = value_of(field.substr(colon + 2), unread);
    if (value) assign(sample, trimmed(field.substr(0, colon)), *value);
  }
  if (!sample.step_time_s) unread.note(true, false);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
  ledger.declare_last_iteration(*total);
}

}  // namespace llmb::parser
