#include "parser/dialects/automodel.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "step ";
constexpr std::string_view kValidation = "[val]";
constexpr std::string_view kLabelTokens = "| num_label_tokens ";
constexpr std::array kLiterals = {kLabelTokens};
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

// "12345.67(1543.21/gpu)": of all GPUs, and of one.
void assign_rates(StepSample& sample, const Number& of_all, UnreadValues& unread) {
  add_extra_field(sample, "tps_of_all_gpus", of_all.value);
  std::string_view rest = of_all.rest;
  const auto of_one = take_literal(rest, "(") ? leading_number(rest, unread) : std::nullopt;
  if (of_one && of_one->rest.starts_with("/gpu")) add_extra_field(sample, "tps", of_one->value);
}

void assign(StepSample& sample, std::string_view name, const Number& number, UnreadValues& unread) {
  if (name == "loss") {
    sample.loss = number.value;
  } else if (name == "grad_norm") {
    sample.grad_norm = number.value;
  } else if (name == "lr") {
    sample.learning_rate = number.value;
  } else if (name == "mem") {
    sample.memory_bytes_max = number.value * kGibibyte;
  } else if (name == "epoch") {
    const auto epoch = integer_of(number.value);
    if (epoch && *epoch >= 0 && *epoch < 1'000'000'000) {
      sample.epoch = static_cast<std::int32_t>(*epoch);
    }
  } else if (name == "tps") {
    assign_rates(sample, number, unread);
  } else {
    add_extra_field(sample, name, number.value);
  }
}

}  // namespace

std::span<const std::string_view> AutomodelReader::literals() const {
  return kLiterals;
}

void AutomodelReader::read(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  if (text.find(kValidation) != std::string_view::npos) {
    ledger.see_interruption(InterruptionSign::evaluation, record.offset);
    return;
  }
  const std::size_t marker = text.find(kMarker);
  if (marker == std::string_view::npos || text.find("| tps ") == std::string_view::npos) return;
  std::string_view rest = text.substr(marker + kMarker.size());
  const auto step = take_iteration(rest);
  if (!step) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.logged_at = leading_instant(text).instant;
  UnreadValues unread;
  for (const std::string_view part : split(rest, '|')) {
    const std::string_view field = trimmed(part);
    const std::size_t blank = field.find(' ');
    if (blank == std::string_view::npos) continue;
    const auto number = leading_number(field.substr(blank), unread);
    if (number) assign(sample, field.substr(0, blank), *number, unread);
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
}

}  // namespace llmb::parser
