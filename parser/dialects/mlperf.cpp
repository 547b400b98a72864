#include "parser/dialects/mlperf.h"

#include <array>
#include <chrono>
#include <utility>

#include "parser/dialects/fields.h"
#include "parser/foundation/instant.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = ":::MLLOG";
constexpr std::array kLiterals = {kMarker};
constexpr std::int64_t kBatchSizeMax = 1'000'000'000;
constexpr std::int64_t kTimeMsMax = 4'102'444'800'000;  // 2100

// What follows `"name":` and blanks; empty where the text has no such name. The lines are JSON, one
// object each, and no name that is asked for occurs twice in one.
std::string_view text_of(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at == 0 || text[at - 1] != '"') continue;
    std::string_view rest = text.substr(at + name.size());
    if (!take_literal(rest, "\"")) continue;
    rest = trimmed(rest);
    if (take_literal(rest, ":")) return trimmed(rest);
  }
  return {};
}

std::optional<double> number_of(std::string_view text, std::string_view name,
                                UnreadValues& unread) {
  const auto number = leading_number(text_of(text, name), unread);
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<std::int64_t> count_of(std::string_view text, std::string_view name) {
  UnreadValues unread;
  const auto number = number_of(text, name, unread);
  const auto count = number ? integer_of(*number) : std::nullopt;
  return count && is_iteration(*count) ? count : std::nullopt;
}

std::optional<double> first_of(std::string_view text, std::initializer_list<std::string_view> names,
                               UnreadValues& unread) {
  for (const std::string_view name : names) {
    if (const auto number = number_of(text, name, unread)) return number;
  }
  return std::nullopt;
}

// As the other dialects' instants: to the second or finer, without a zone (here UTC).
std::string instant_of(std::string_view text) {
  const auto time_ms = count_of(text, "time_ms");
  if (!time_ms || *time_ms > kTimeMsMax) return {};
  std::string instant = instant_text(Instant(std::chrono::milliseconds(*time_ms)));
  instant.pop_back();  // the Z
  return instant;
}

}  // namespace

std::span<const std::string_view> MlperfReader::literals() const {
  return kLiterals;
}

void MlperfReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t marker = record.text.find(kMarker);
  if (marker == std::string_view::npos) return;
  const std::string_view text = record.text.substr(marker + kMarker.size());
  const std::string_view key = text_of(text, "key");
  if (key.starts_with("\"tracked_stats\"")) {
    read_statistics(text, record.offset, ledger);
  } else if (key.starts_with("\"global_batch_size\"")) {
    const auto size = count_of(text, "value");
    if (size && *size > 0 && *size <= kBatchSizeMax) global_batch_size_ = size;
  } else if (key.starts_with("\"eval_start\"")) {
    ledger.see_interruption(InterruptionSign::evaluation, record.offset);
  } else if (key.starts_with("\"eval_accuracy\"")) {
    const StepSample* newest = steps_.newest(ledger);
    UnreadValues unread;
    const auto accuracy = number_of(text, "value", unread);
    if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
    if (newest == nullptr || !accuracy) return;
    StepSample sample = *newest;
    add_extra_field(sample, "eval_accuracy", *accuracy);
    steps_.amend_newest(std::move(sample), ledger);
  }
}

std::optional<std::int64_t> MlperfReader::step_of(std::string_view text,
                                                  bool has_samples_rate) const {
  const auto step = count_of(text, "step_num");
  if (step) return step;
  const auto in_batches = [&](std::int64_t samples) -> std::optional<std::int64_t> {
    if (!global_batch_size_ || samples % *global_batch_size_ != 0) return std::nullopt;
    return samples / *global_batch_size_;
  };
  const auto plain = count_of(text, "step");
  if (plain && has_samples_rate) return in_batches(*plain).value_or(*plain);
  if (plain) return plain;
  const auto samples = count_of(text, "samples_count");
  return samples ? std::optional(in_batches(*samples).value_or(*samples)) : std::nullopt;
}

void MlperfReader::read_statistics(std::string_view text, std::uint64_t offset,
                                   StepLedger& ledger) {
  UnreadValues unread;
  const auto time = number_of(text, "train_step_time", unread);
  const auto rate = number_of(text, "throughput", unread);
  if (unread.refusal()) unread.note(true, true);
  const auto loss = first_of(text, {"reduced_train_loss", "train_loss", "loss"}, unread);
  const auto learning_rate = number_of(text, "lr", unread);
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (!time && !rate && !loss) return;  // of an evaluation, or an epoch
  const auto step = step_of(text, rate && !time);
  if (!step) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  const StepSample* newest = steps_.newest(ledger);
  const bool is_same_step = newest != nullptr && newest->iteration == *step;
  StepSample sample = is_same_step ? *newest : StepSample();
  if (!is_same_step) sample.byte_offset = offset;
  sample.iteration = *step;
  sample.logged_at = instant_of(text);
  sample.global_batch_size = global_batch_size_;
  if (time) set_printed_time(sample, time, 0);
  if (!sample.step_time_s && rate && *rate > 0 && global_batch_size_) {
    set_time_from_rate(sample, static_cast<double>(*global_batch_size_) / *rate);
  }
  if (loss) sample.loss = loss;
  if (learning_rate) sample.learning_rate = learning_rate;
  if (rate) add_extra_field(sample, "samples_per_s", *rate);
  if (is_same_step) {
    steps_.amend_newest(std::move(sample), ledger);
  } else {
    steps_.add(std::move(sample), ledger);
  }
}

void MlperfReader::save(StateWriter& state) const {
  steps_.save(state);
  state.optional_integer(global_batch_size_);
}

void MlperfReader::restore(StateReader& state) {
  steps_.restore(state);
  global_batch_size_ = state.optional_integer();
}

}  // namespace llmb::parser
