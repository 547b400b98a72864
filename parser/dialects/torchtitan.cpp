#include "parser/dialects/torchtitan.h"

#include <algorithm>
#include <array>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "step:";
constexpr std::string_view kValidation = "validate";  // its lines look like a step's
constexpr std::string_view kTokensPerSecond = "tps:";
constexpr std::array kLiterals = {kTokensPerSecond};
constexpr std::size_t kRecentStepsMax = 4;

// "6,785" -> 6785; "68.57GiB(86.69%)" -> bytes; "39.73%" -> 0.3973.
std::optional<double> value_of(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  const auto number = leading_number(digits);
  if (!number) return std::nullopt;
  const std::string_view unit = number->rest;
  if (unit.empty()) return number->value;
  if (unit == "%") return number->value / 100;
  if (unit.starts_with("GiB")) return number->value * 1024 * 1024 * 1024;
  if (unit.starts_with("MiB")) return number->value * 1024 * 1024;
  return std::nullopt;
}

void assign(StepSample& sample, std::string_view name, double value) {
  if (name == "loss") {
    sample.loss = value;
  } else if (name == "grad_norm") {
    sample.grad_norm = value;
  } else if (name == "lr") {
    sample.learning_rate = value;
  } else if (name == "memory") {
    sample.memory_bytes_max = value;
  } else if (name == "tflops") {
    sample.tflops_per_gpu = known_tflops(value);
  } else {
    add_extra_field(sample, name, value);
  }
}

std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  return word;
}

// "name: value" pairs between blanks; ends at the first word that is no name.
void read_pairs(std::string_view text, StepSample& sample) {
  while (true) {
    const std::string_view name = next_word(text);
    if (name.size() < 2 || !name.ends_with(':')) return;
    const auto value = value_of(next_word(text));
    if (!value) return;
    assign(sample, name.substr(0, name.size() - 1), *value);
  }
}

// The first instant of the line: "1: 2025-03-04 00:44:44,441 - root - INFO - ".
std::string instant_within(std::string_view text) {
  for (std::size_t at = text.find("20"); at != std::string_view::npos;
       at = text.find("20", at + 1)) {
    PrintedInstant printed = leading_instant(text.substr(at));
    if (printed.length > 0) return printed.instant;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> TorchtitanReader::literals() const {
  return kLiterals;
}

void TorchtitanReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t marker = record.text.find(kMarker);
  if (marker == std::string_view::npos) return;
  if (trimmed(record.text.substr(0, marker)).ends_with(kValidation)) return;
  std::string_view rest = record.text.substr(marker + kMarker.size());
  const auto step = take_integer(rest);
  const bool has_fields = rest.find("loss:") != std::string_view::npos &&
                          rest.find(kTokensPerSecond) != std::string_view::npos;
  if (!has_fields) return;
  if (!step || *step < 0 || *step > kIterationMax) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.logged_at = instant_within(record.text.substr(0, marker));
  read_pairs(rest, sample);
  if (is_another_rank(sample, ledger)) return;
  if (ledger.newest() && *step <= ledger.newest()->iteration) recent_steps_.clear();
  recent_steps_.push_back(*step);
  if (recent_steps_.size() > kRecentStepsMax) recent_steps_.pop_front();
  newest_logged_at_ = sample.logged_at;
  ledger.add(std::move(sample));
}

bool TorchtitanReader::is_another_rank(const StepSample& sample, const StepLedger& ledger) const {
  const auto& newest = ledger.newest();
  if (!newest) return false;
  if (newest->iteration == sample.iteration) return true;
  // A restart repeats steps too, but later than all that was printed before it.
  const bool is_recent = std::find(recent_steps_.begin(), recent_steps_.end(), sample.iteration) !=
                         recent_steps_.end();
  return is_recent && sample.logged_at <= newest_logged_at_;
}

void TorchtitanReader::save(StateWriter& state) const {
  state.unsigned_integer(recent_steps_.size());
  for (const std::int64_t step : recent_steps_) state.integer(step);
  state.text(newest_logged_at_);
}

void TorchtitanReader::restore(StateReader& state) {
  recent_steps_.resize(state.count(kRecentStepsMax));
  for (std::int64_t& step : recent_steps_) step = state.integer();
  newest_logged_at_ = state.text();
}

}  // namespace llmb::parser
