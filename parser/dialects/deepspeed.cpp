#include "parser/dialects/deepspeed.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"
#include "parser/dialects/fill_missing.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kRunningRate = "RunningAvgSamplesPerSec=";
constexpr std::string_view kCurrentRate = "CurrSamplesPerSec=";
constexpr std::string_view kIterationTime = "iter time (s): ";
// "[Rank 0] step=10, skipped=0, lr=[4.99e-05, 4.99e-05], mom=[(0.9, 0.95), (0.9, 0.95)]"
constexpr std::string_view kSkipped = ", skipped=";
// "[config.py:1003:print]   train_batch_size ............. 16"
constexpr std::string_view kBatchSize = "train_batch_size ...";
constexpr std::array kLiterals = {kRunningRate, kIterationTime, kSkipped, kBatchSize};
constexpr std::int64_t kBatchSizeMax = 1'000'000'000;
constexpr double kGigabyte = 1024.0 * 1024 * 1024;

std::optional<double> bytes_after(std::string_view text, std::string_view name,
                                  UnreadValues& unread) {
  const auto number = number_after(text, name, unread);
  return number ? std::optional(number->value * kGigabyte) : std::nullopt;
}

std::optional<std::int64_t> step_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  return take_iteration(text);
}

std::string instant_of(std::string_view text) {
  return text.starts_with('[') ? leading_instant(text.substr(1)).instant : std::string();
}

}  // namespace

std::span<const std::string_view> DeepspeedReader::literals() const {
  return kLiterals;
}

void DeepspeedReader::read(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  if (text.find(kRunningRate) != std::string_view::npos) return read_rates(record, ledger);
  if (text.find(kIterationTime) != std::string_view::npos) return read_time(record, ledger);
  if (text.find(kSkipped) != std::string_view::npos) return read_learning_rate(text, ledger);
  const std::size_t at = text.find(kBatchSize);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ')) return;
  std::string_view rest = text.substr(at + kBatchSize.size());
  rest.remove_prefix(std::min(rest.find_first_not_of('.'), rest.size()));
  const auto size = take_integer(rest);
  if (size && *size > 0 && *size <= kBatchSizeMax) train_batch_size_ = size;
}

// Versions before 2022-11 print "0/10" for the epoch and the step, and rates that do not count all
// of a batch: no time follows from those.
void DeepspeedReader::read_rates(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  const auto step = step_after(text.substr(0, text.find(kRunningRate)), "global_step=");
  UnreadValues unread;
  const auto rate = number_after(text, kCurrentRate, unread);
  if (!step || !rate) {
    ledger.refuse_line(step ? LineRefusal::step_time_not_read : LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.logged_at = instant_of(text);
  sample.memory_bytes_allocated = bytes_after(text, " MemAllocated=", unread);
  sample.memory_bytes_max = bytes_after(text, " MaxMemAllocated=", unread);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (train_batch_size_ && rate->value > 0) {
    set_time_from_rate(sample, static_cast<double>(*train_batch_size_) / rate->value);
    sample.global_batch_size = train_batch_size_;
  }
  add_extra_field(sample, "samples_per_s", rate->value);
  add(std::move(sample), ledger);
}

void DeepspeedReader::read_time(const Record& record, StepLedger& ledger) {
  const std::string_view text = record.text;
  // "steps: 10 loss: …"; one fork prints "step: 10 / 500 loss: …".
  auto step = step_after(text, "steps: ");
  if (!step) step = step_after(text, "step: ");
  UnreadValues unread;
  const auto time = number_after(text, kIterationTime, unread);
  if (!step) return;
  if (!time) {
    ledger.refuse_line(LineRefusal::step_time_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.step_time_s = time->value;
  sample.step_time_resolution_s = half_last_digit(time->text);
  if (const auto loss = number_after(text, " loss: ", unread)) sample.loss = loss->value;
  if (const auto rate = number_after(text, "samples/sec: ", unread)) {
    add_extra_field(sample, "samples_per_s", rate->value);
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  add(std::move(sample), ledger);
}

void DeepspeedReader::read_learning_rate(std::string_view text, StepLedger& ledger) {
  const auto step = step_after(text, " step=");
  UnreadValues unread;
  const auto rate = number_after(text, " lr=[", unread);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (!step || !rate) return;
  learning_rate_step_ = step;
  learning_rate_ = rate->value;
}

// The two engines' lines of one step come in either order, and some versions let every rank print:
// what the first left open is filled in.
void DeepspeedReader::add(StepSample sample, StepLedger& ledger) {
  if (learning_rate_step_ == sample.iteration) sample.learning_rate = learning_rate_;
  const StepSample* newest = steps_.newest(ledger);
  if (newest == nullptr || newest->iteration != sample.iteration) {
    steps_.add(std::move(sample), ledger);
    return;
  }
  StepSample both = *newest;
  // A mean over the interval says more than its last step.
  if (!both.step_time_s || (sample.loss && !both.loss)) {
    set_printed_time(both, std::nullopt, 0);  // filled in below, with its source
  }
  fill_missing(both, sample);
  steps_.amend_newest(std::move(both), ledger);
}

void DeepspeedReader::save(StateWriter& state) const {
  steps_.save(state);
  state.optional_integer(train_batch_size_);
  state.optional_integer(learning_rate_step_);
  state.optional_number(learning_rate_);
}

void DeepspeedReader::restore(StateReader& state) {
  steps_.restore(state);
  train_batch_size_ = state.optional_integer();
  learning_rate_step_ = state.optional_integer();
  learning_rate_ = state.optional_number();
}

}  // namespace llmb::parser
