#include "parser/dialects/torchtitan.h"

#include <algorithm>
#include <array>

#include "parser/dialects/fields.h"
#include "parser/dialects/fill_missing.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "step:";
constexpr std::string_view kValidation = "validate";  // its lines look like a step's
constexpr std::string_view kTokensPerSecond = "tps:";
constexpr std::string_view kRate = "tps";
constexpr std::string_view kTflops = "tflops";
// What ranks print that hold no last pipeline stage, and so compute no loss.
constexpr double kNoLoss = -1;
// "Trainer is initialized with local batch size 1, global batch size 8, gradient accumulation steps
// 1, sequence length 8192, total steps 1000 (warmup 200)"; earlier "Training starts at step 1, with
// local batch size 1, …"
constexpr std::string_view kTrainer = "Trainer is initialized with ";
constexpr std::string_view kStart = "Training starts at step ";
// "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"; later "Building device mesh with
// parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1, etp=1"
constexpr std::string_view kMesh = "device mesh with ";
constexpr std::array kLiterals = {kTokensPerSecond, kTrainer, kStart, kMesh};
constexpr std::int64_t kCountMax = 1'000'000'000'000;
constexpr std::size_t kRecentStepsMax = 4;

// "6,785" and "1,012.23" without their commas; as it stands where these part no groups of three.
std::string without_group_commas(std::string_view text) {
  std::string digits(text.substr(0, text.find(',')));
  if (digits.empty() || digits.size() > 3) return std::string(text);
  std::string_view rest = text.substr(digits.size());
  while (take_literal(rest, ",")) {
    const std::string_view group = rest.substr(0, 3);
    const bool is_group = group.size() == 3 && std::all_of(group.begin(), group.end(), is_digit) &&
                          (rest.size() == 3 || !is_digit(rest[3]));
    if (!is_group) return std::string(text);
    digits += group;
    rest.remove_prefix(3);
  }
  return digits.append(rest);
}

// "6,785" -> 6785; "68.57GiB(86.69%)" -> bytes; "39.73%" -> 0.3973. Only rates are printed with
// commas.
std::optional<double> value_of(std::string_view name, std::string_view text, UnreadValues& unread) {
  const bool may_have_groups = name == kRate || name == kTflops;
  const std::string digits = may_have_groups ? without_group_commas(text) : std::string(text);
  const auto number = leading_number(digits, unread);
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
    if (value != kNoLoss) sample.loss = value;
  } else if (name == "grad_norm") {
    sample.grad_norm = value;
  } else if (name == "lr") {
    sample.learning_rate = value;
  } else if (name == "memory") {
    sample.memory_bytes_max = value;
  } else if (name == kTflops) {
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

// "name: value" pairs between blanks; ends at the first word that is no name, or no value.
UnreadValues read_pairs(std::string_view text, StepSample& sample) {
  UnreadValues unread;
  while (true) {
    std::string_view name = next_word(text);
    if (name.size() < 2 || !name.ends_with(':')) return unread;
    name.remove_suffix(1);
    UnreadValues own;
    const auto value = value_of(name, trimmed(next_word(text), ","), own);
    if (own.refusal()) {
      unread.note(name == kRate, true);
      continue;
    }
    if (!value) return unread;
    assign(sample, name, *value);
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

// The whole number behind `name`.
std::optional<std::int64_t> count_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  const auto count = take_integer(text);
  return count && *count > 0 && *count <= kCountMax ? count : std::nullopt;
}

// Of the mesh's dimensions; experts share the GPUs of the others.
std::optional<std::int64_t> gpus_of_mesh(std::string_view text) {
  std::int64_t product = 1;
  const auto multiply = [&](std::optional<std::int64_t> size) {
    if (!size || *size <= 0 || product > kCountMax / *size) return false;
    product *= *size;
    return true;
  };
  if (const std::size_t at = text.find("], ["); at != std::string_view::npos) {
    text.remove_prefix(at + 4);
    do {
      if (!multiply(take_integer(text))) return std::nullopt;
    } while (take_literal(text, ", "));
    return take_literal(text, "]") ? std::optional(product) : std::nullopt;
  }
  bool is_named = false;
  for (const std::string_view name : {"pp=", "dp_replicate=", "dp_shard=", "cp=", " tp="}) {
    const auto size = count_after(text, name);
    if (!size) continue;
    is_named = true;
    if (!multiply(size)) return std::nullopt;
  }
  return is_named ? std::optional(product) : std::nullopt;
}

}  // namespace

std::span<const std::string_view> TorchtitanReader::literals() const {
  return kLiterals;
}

void TorchtitanReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t marker = record.text.find(kMarker);
  if (marker == std::string_view::npos) {
    read_setup(record.text, ledger);
    return;
  }
  if (trimmed(record.text.substr(0, marker)).ends_with(kValidation)) {
    ledger.see_interruption(InterruptionSign::evaluation, record.offset);
    return;
  }
  std::string_view rest = record.text.substr(marker + kMarker.size());
  const auto step = take_iteration(rest);
  const bool has_fields = rest.find("loss:") != std::string_view::npos &&
                          rest.find(kTokensPerSecond) != std::string_view::npos;
  if (!has_fields) return;
  if (!step) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = record.offset;
  sample.iteration = *step;
  sample.logged_at = instant_within(record.text.substr(0, marker));
  const UnreadValues unread = read_pairs(rest, sample);
  time_step(sample);
  if (is_another_rank(sample, ledger)) {
    ledger.note_print(*step);
    complete_newest(sample, ledger);
    return;
  }
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (ledger.newest() && *step <= ledger.newest()->iteration) recent_steps_.clear();
  recent_steps_.push_back(*step);
  if (recent_steps_.size() > kRecentStepsMax) recent_steps_.pop_front();
  newest_logged_at_ = sample.logged_at;
  ledger.add(std::move(sample));
}

void TorchtitanReader::read_setup(std::string_view text, StepLedger& ledger) {
  if (const std::size_t mesh = text.find(kMesh); mesh != std::string_view::npos) {
    if (const auto gpus = gpus_of_mesh(text.substr(mesh))) gpu_count_ = gpus;
    return;
  }
  const bool is_setup =
      text.find(kTrainer) != std::string_view::npos || text.find(kStart) != std::string_view::npos;
  if (!is_setup) return;
  const auto batch = count_after(text, "global batch size ");
  const auto length = count_after(text, "sequence length ");
  if (batch && length && *batch <= kCountMax / *length) tokens_per_step_ = *batch * *length;
  const auto steps = count_after(text, "total steps ");
  if (steps && *steps <= kIterationMax) ledger.declare_last_iteration(*steps);
}

// tps = tokens of a step / (seconds a step * GPUs), the mean since the step that was printed
// before.
void TorchtitanReader::time_step(StepSample& sample) const {
  const auto tps = std::find_if(sample.extra_fields.begin(), sample.extra_fields.end(),
                                [](const auto& field) { return field.first == kRate; });
  if (!tokens_per_step_ || !gpu_count_ || tps == sample.extra_fields.end() || !(tps->second > 0)) {
    return;
  }
  const double of_a_gpu = static_cast<double>(*tokens_per_step_) / static_cast<double>(*gpu_count_);
  const double rate = tps->second;
  set_time_from_rate(sample, of_a_gpu / rate);
  sample.step_time_resolution_s = *sample.step_time_s * 0.5 / rate;  // printed as a whole
}

bool TorchtitanReader::is_another_rank(const StepSample& sample, const StepLedger& ledger) const {
  const auto& newest = ledger.newest();
  if (!newest) return false;
  if (newest->iteration == sample.iteration) return true;
  // A restart repeats steps too, but later than all that was printed before it.
  const bool is_recent = std::find(recent_steps_.begin(), recent_steps_.end(), sample.iteration) !=
                         recent_steps_.end();
  return (is_recent && sample.logged_at <= newest_logged_at_) || ledger.is_late(sample.iteration);
}

// A rank of an earlier pipeline stage may have printed the step first.
void TorchtitanReader::complete_newest(const StepSample& sample, StepLedger& ledger) {
  const StepSample& newest = *ledger.newest();
  if (newest.loss || newest.iteration != sample.iteration) return;
  StepSample both = newest;
  fill_missing(both, sample);
  ledger.amend_newest(std::move(both));
}

void TorchtitanReader::save(StateWriter& state) const {
  state.unsigned_integer(recent_steps_.size());
  for (const std::int64_t step : recent_steps_) state.integer(step);
  state.text(newest_logged_at_);
  state.optional_integer(tokens_per_step_);
  state.optional_integer(gpu_count_);
}

void TorchtitanReader::restore(StateReader& state) {
  recent_steps_.resize(state.count(kRecentStepsMax));
  for (std::int64_t& step : recent_steps_) step = state.integer();
  newest_logged_at_ = state.text();
  tokens_per_step_ = state.optional_integer();
  gpu_count_ = state.optional_integer();
}

}  // namespace llmb::parser
