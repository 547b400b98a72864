#include "parser/dialects/neuronx.h"

#include <array>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kStepTime = " step_time ";
constexpr std::array kLiterals = {kStepTime};

std::optional<Number> number_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string_view::npos ? std::nullopt
                                      : leading_number(text.substr(at + name.size()));
}

std::optional<double> value_after(std::string_view text, std::string_view name) {
  const auto number = number_after(text, name);
  return number ? std::optional(number->value) : std::nullopt;
}

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
  const auto time = number_after(rest, kStepTime);
  if (!time || !time->rest.starts_with('s')) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.step_time_s = time->value;
  sample.loss = value_after(rest, " loss ");
  sample.learning_rate = value_after(rest, " current_lr: ");
  sample.grad_norm = value_after(rest, " grad norm ");
  if (const auto value = value_after(rest, " throughput ")) {
    add_extra_field(sample, "throughput", *value);
  }
  if (const auto value = value_after(rest, " val-loss: ")) {
    add_extra_field(sample, "val-loss", *value);
  }
  ledger.add(std::move(sample));
}

}  // namespace llmb::parser
