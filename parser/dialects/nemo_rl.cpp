#include "parser/dialects/nemo_rl.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kStep = "==== Step ";
constexpr std::string_view kEpoch = "==== Epoch ";
constexpr std::string_view kLoss = "\u2022 Loss: ";
constexpr std::string_view kReward = "\u2022 Avg Reward: ";
constexpr std::string_view kFlops = " TFLOPS per rank)";
constexpr std::string_view kStepTime = "\u2022 Total step time: ";
constexpr std::string_view kTokenRate = "(Tokens/sec/gpu): ";
constexpr std::array kLiterals = {kStep, kEpoch, kLoss, kReward, kFlops, kStepTime, kTokenRate};

// "3/100" behind `name`: both, or nothing.
std::optional<std::pair<std::int64_t, std::int64_t>> place_after(std::string_view text,
                                                                 std::string_view name) {
  text.remove_prefix(text.find(name) + name.size());
  const auto number = take_integer(text);
  const auto total = take_literal(text, "/") ? take_integer(text) : std::nullopt;
  if (!number || !total || *number < 1 || *number > kIterationMax) return std::nullopt;
  return std::pair(*number, *total);
}

}  // namespace

std::span<const std::string_view> NemoRlReader::literals() const {
  return kLiterals;
}

void NemoRlReader::read(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  if (holds(text, kStepTime)) return finish_step(text, record.offset, ledger);
  if (holds(text, kTokenRate)) return add_rate(text, ledger);
  if (holds(text, kStep)) return begin_step(text);
  if (holds(text, kEpoch)) return begin_epoch(text);
  if (step_) read_value(text, ledger);
}

void NemoRlReader::read_value(std::string_view text, StepLedger& ledger) {
  UnreadValues unread;
  if (const auto loss = number_after(text, kLoss, unread)) begun_.loss = loss->value;
  if (const auto reward = number_after(text, kReward, unread)) {
    add_extra_field(begun_, "Avg Reward", reward->value);
  }
  if (const std::size_t end = text.find(kFlops); end != std::string_view::npos) {
    const auto of_rank = number_after(text, "(", unread);
    if (of_rank && of_rank->rest.starts_with(kFlops)) {
      begun_.tflops_per_gpu = known_tflops(of_rank->value);
    }
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
}

void NemoRlReader::begin_step(std::string_view text) {
  begun_ = {};
  step_.reset();
  const auto place = place_after(text, kStep);
  if (!place) return;
  step_ = place->first;
  last_step_ = place->second;
}

void NemoRlReader::begin_epoch(std::string_view text) {
  const auto place = place_after(text, kEpoch);
  if (!place) return;
  if (place->first == epoch_ + 1 && epoch_ > 0) {
    steps_of_earlier_epochs_ += step_.value_or(0);
  } else {
    steps_of_earlier_epochs_ = 0;  // the first, or a restart: which steps went before is unknown
  }
  epoch_ = place->first;
}

void NemoRlReader::finish_step(std::string_view text, std::uint64_t offset, StepLedger& ledger) {
  UnreadValues unread;
  const auto time = number_after(text, kStepTime, unread);
  if (!time || !time->rest.starts_with('s')) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  if (!step_) {
    ledger.refuse_line(LineRefusal::step_line_missing);
    return;
  }
  StepSample sample = begun_;
  sample.byte_offset = offset;
  sample.iteration = steps_of_earlier_epochs_ + *step_;
  sample.step_time_s = time->value;
  sample.step_time_resolution_s = half_last_digit(time->text);
  ledger.add(std::move(sample));
  if (last_step_ && steps_of_earlier_epochs_ == 0) ledger.declare_last_iteration(*last_step_);
}

// "- E2E (Tokens/sec/gpu): 1992.83", of the step that stands.
void NemoRlReader::add_rate(std::string_view text, StepLedger& ledger) {
  UnreadValues unread;
  const auto rate = number_after(text, kTokenRate, unread);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (!rate || !ledger.newest()) return;
  const std::string_view label = trimmed(text.substr(0, text.find(kTokenRate)), " \t-");
  StepSample sample = *ledger.newest();
  add_extra_field(sample, label == "E2E" ? "tps" : std::string(label) + " tps", rate->value);
  ledger.amend_newest(std::move(sample));
}

void NemoRlReader::save(StateWriter& state) const {
  state.integer(steps_of_earlier_epochs_);
  state.integer(epoch_);
  state.optional_integer(step_);
  state.optional_integer(last_step_);
  state.sample(begun_);
}

void NemoRlReader::restore(StateReader& state) {
  steps_of_earlier_epochs_ = state.integer();
  epoch_ = state.integer();
  step_ = state.optional_integer();
  last_step_ = state.optional_integer();
  begun_ = state.sample();
}

}  // namespace llmb::parser
