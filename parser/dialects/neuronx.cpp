#include "parser/dialects/neuronx.h"

#include <array>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kStepTime = " step_time ";
constexpr std::array kLiterals = {kStepTime};

}  // namespace

std::span<const std::string_view> NeuronxReader::literals() const {
  return kLiterals;
}

void NeuronxReader::read(const Record& record, StepLedger& ledger) {
  // "step N" stands directly before the time.
  const std::size_t at = record.text.find(kStepTime);
  const std::string_view head = record.text.substr(0, at);
  const std::size_t marker = head.rfind("step ");
  if (at == std::string_view::npos || marker == std::string_view::npos) return;
  std::string_view step_text = head.substr(marker + 5);
  const auto step = take_iteration(step_text);
  if (!step || !step_text.empty()) return;
  const std::string_view rest = record.text.substr(at);
  UnreadValues unread;
  const auto time = number_after(rest, kStepTime, unread);
  if (!time || !time->rest.starts_with('s')) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.step_time_s = time->value;
  const auto value_after = [&](std::string_view name) -> std::optional<double> {
    const auto number = number_after(rest, name, unread);
    return number ? std::optional(number->value) : std::nullopt;
  };
  sample.loss = value_after(" loss ");
  sample.learning_rate = value_after(" current_lr: ");
  sample.grad_norm = value_after(" grad norm ");
  if (const auto value = value_after(" throughput ")) {
    add_extra_field(sample, "throughput", *value);
  }
  if (const auto value = value_after(" val-loss: ")) {
    add_extra_field(sample, "val-loss", *value);
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
}

}  // namespace llmb::parser
