#include "parser/dialects/automodel.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "step ";
constexpr std::string_view kValidation = "[val]";
constexpr std::string_view kLabelTokens = "| num_label_tokens ";
constexpr std::string_view kIteration = "| Iteration ";
constexpr std::string_view kBenchmarkTokens = "| num_label_tokens=";
constexpr std::string_view kIterationTime = "Max iter time: ";
constexpr std::string_view kUtilization = "MFU: ";
constexpr std::string_view kMean = "Average MFU: ";  // of all steps, at the end
constexpr std::array kLiterals = {kLabelTokens, kBenchmarkTokens, kIterationTime, kUtilization};
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
  if (holds(record.text, kLabelTokens)) return read_training(record, ledger);
  if (holds(record.text, kBenchmarkTokens)) return read_benchmark(record, ledger);
  read_benchmark_figure(record.text, ledger);
}

void AutomodelReader::read_training(const Record& record, StepLedger& ledger) {
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

// Some versions print it with each micro-batch: the first counts.
void AutomodelReader::read_benchmark(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  const std::size_t marker = text.find(kIteration);
  if (marker == std::string_view::npos) return;
  std::string_view rest = text.substr(marker + kIteration.size());
  const auto iteration = take_iteration(rest);
  if (!iteration) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  const auto& newest = ledger.newest();
  if (newest && newest->iteration == *iteration && !newest->step_time_s) return;
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *iteration;
  sample.logged_at = leading_instant(text).instant;
  UnreadValues unread;
  if (const auto loss = number_after(rest, "| loss=", unread)) sample.loss = loss->value;
  if (const auto memory = number_after(rest, "Max Memory Allocated: ", unread)) {
    sample.memory_bytes_max = memory->value * kGibibyte;
  }
  if (const auto tokens = number_after(rest, kBenchmarkTokens, unread)) {
    add_extra_field(sample, "num_label_tokens", tokens->value);
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
}

// Of the newest step; other programs print an MFU, too, and no step of this one.
void AutomodelReader::read_benchmark_figure(std::string_view text, StepLedger& ledger) {
  if (!ledger.newest() || holds(text, kMean)) return;
  StepSample sample = *ledger.newest();
  UnreadValues unread;
  if (holds(text, kIterationTime)) {
    const auto time = number_after(text, kIterationTime, unread);
    if (!time) {
      ledger.refuse_line(LineRefusal::step_time_not_read);
      return;
    }
    if (sample.step_time_s) return;
    sample.step_time_s = time->value;
    sample.step_time_resolution_s = half_last_digit(time->text);
  } else {
    if (!sample.step_time_s) return;
    const auto utilization = number_after(text, kUtilization, unread);
    if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
    if (!utilization || !utilization->rest.starts_with('%')) return;
    add_extra_field(sample, "mfu", utilization->value / 100);
  }
  ledger.amend_newest(std::move(sample));
}

}  // namespace llmb::parser
