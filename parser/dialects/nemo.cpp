#include "parser/dialects/nemo.h"

#include <array>

#include "parser/dialects/fields.h"
#include "parser/dialects/step_line_grammar.h"

namespace llmb::parser {
namespace {

namespace grammar = step_line_grammar::nemo;

// Of a line that was wrapped before its last fields.
constexpr std::string_view kTail = "| train_step_timing in s: ";
constexpr std::array kLiterals = {grammar::kMarker, kTail};

void assign(StepSample& sample, std::string_view name, const Number& number) {
  if (name == grammar::kStepTime) {
    sample.step_time_s = number.value;
    sample.step_time_resolution_s =
        half_significant_digit(number.value, grammar::kSignificantDigits);
  } else if (name == grammar::kTflopsPerGpu) {
    sample.tflops_per_gpu = known_tflops(number.value);
  } else if (name == grammar::kLoss) {
    sample.loss = number.value;
  } else if (name == grammar::kLearningRate) {
    sample.learning_rate = number.value;
  } else if (name == grammar::kGradNorm) {
    sample.grad_norm = number.value;
  } else if (name == grammar::kGlobalStep) {
    sample.global_step = integer_of(number.value);
  } else if (name == grammar::kConsumedSamples) {
    sample.consumed_samples = integer_of(number.value);
  } else if (name == grammar::kGlobalBatchSize) {
    sample.global_batch_size = integer_of(number.value);
  } else if (name == grammar::kPeakMemoryUsage || name == grammar::kMaxMemoryReserved) {
    sample.memory_bytes_max = number.value;
  } else if (name == grammar::kMemoryAllocated || name == grammar::kMaxMemoryAllocated) {
    sample.memory_bytes_allocated = number.value;
  } else {
    add_extra_field(sample, name, number.value);
  }
}

}  // namespace

std::span<const std::string_view> NemoReader::literals() const {
  return kLiterals;
}

void NemoReader::read(const Record& record, StepLedger& ledger) {
  // Several records may be glued on one line.
  std::size_t begin = record.text.find(grammar::kMarker);
  const auto& newest = ledger.newest();
  const bool is_tail = begin == std::string_view::npos && newest && newest->loss;
  if (is_tail && !newest->step_time_s && record.text.starts_with(kTail)) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
  }
  while (begin != std::string_view::npos) {
    const std::size_t next = record.text.find(grammar::kMarker, begin + grammar::kMarker.size());
    read_one(record.text.substr(begin, next - begin), record.offset, ledger);
    begin = next;
  }
}

void NemoReader::read_one(std::string_view text, std::uint64_t offset, StepLedger& ledger) {
  text.remove_prefix(grammar::kMarker.size());
  const auto epoch = take_integer(text);
  const bool has_iteration = epoch && take_literal(text, grammar::kIteration);
  const auto printed = has_iteration ? take_integer(text) : std::nullopt;
  const auto declared = printed && take_literal(text, "/") ? take_integer(text) : std::nullopt;
  if (!declared || *epoch < 0 || *epoch > INT32_MAX || !is_iteration(*printed)) {
    // Prose may speak of a "Training epoch"; only what goes on with a number was to be a step.
    if (epoch) ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.epoch = static_cast<std::int32_t>(*epoch);
  UnreadValues unread;
  text = trimmed(text);
  take_literal(text, "|");
  read_fields(
      text, {grammar::kFieldSeparator, grammar::kValueSeparator},
      [&](std::string_view name, const Number& number) { assign(sample, name, number); },
      [&](std::string_view name, bool is_number) {
        unread.note(name == grammar::kStepTime, is_number);
      });
  sample.iteration = iteration_of(sample, *printed, ledger);
  if (!is_iteration(sample.iteration)) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  // Programs without a timer print no time, but all print a loss before it.
  const bool ends_early = !sample.step_time_s && !sample.loss && !ledger.log_ends_within();
  if (ends_early && !unread.refusal()) unread.note(true, false);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  ledger.add(std::move(sample));
  ledger.declare_last_iteration(*declared);
}

std::int64_t NemoReader::iteration_of(const StepSample& sample, std::int64_t printed,
                                      const StepLedger& ledger) {
  if (*sample.epoch != epoch_) {
    const auto& newest = ledger.newest();
    epoch_base_ = *sample.epoch > epoch_ && newest ? newest->iteration + 1 : 0;
    epoch_ = *sample.epoch;
  }
  if (epoch_ == 0) return printed;
  return sample.global_step ? *sample.global_step : epoch_base_ + printed;
}

void NemoReader::save(StateWriter& state) const {
  state.integer(epoch_);
  state.integer(epoch_base_);
}

void NemoReader::restore(StateReader& state) {
  epoch_ = static_cast<std::int32_t>(state.integer());
  epoch_base_ = state.integer();
}

}  // namespace llmb::parser
