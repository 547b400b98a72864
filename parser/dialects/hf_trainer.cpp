#include "parser/dialects/hf_trainer.h"

#include <array>
#include <utility>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMetrics = "{'loss': ";
constexpr std::string_view kSecondsPerStep = "s/it]";
constexpr std::string_view kStepsPerSecond = "it/s]";
constexpr std::array kLiterals = {kMetrics, kSecondsPerStep, kStepsPerSecond};
constexpr std::string_view kSwiftPlace = "global_step/max_steps";  // "'85/94'"
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

// Calls on_value(name, text) for "{'name': text, 'name': 'text', …}".
template <typename OnValue>
void read_dictionary(std::string_view text, OnValue on_value) {
  take_literal(text, "{");
  while (take_literal(text, "'")) {
    const std::size_t name_end = text.find("': ");
    if (name_end == std::string_view::npos) return;
    const std::string_view name = text.substr(0, name_end);
    text.remove_prefix(name_end + 3);
    const std::size_t next = text.find(", '");
    const std::string_view value = text.substr(0, std::min(next, text.find('}')));
    on_value(name, trimmed(value, "' "));
    if (next == std::string_view::npos || next > value.size()) return;
    text.remove_prefix(next + 2);
  }
}

void assign(StepSample& sample, std::string_view name, double value) {
  if (name == "loss") {
    sample.loss = value;
  } else if (name == "grad_norm") {
    sample.grad_norm = value;
  } else if (name == "learning_rate") {
    sample.learning_rate = value;
  } else if (name == "step_time") {  // TRL's online trainers
    sample.step_time_s = value;
  } else if (name == "memory(GiB)") {
    sample.memory_bytes_max = value * kGibibyte;
  } else if (name == "epoch") {
    if (value >= 0 && value < 1e6) sample.epoch = static_cast<std::int32_t>(value);
  } else {
    add_extra_field(sample, name, value);
  }
}

// A logger of the program's own (LLaMA-Factory's) prints the metrics too.
bool are_the_same(const StepSample& a, const StepSample& b) {
  return a.loss == b.loss && a.grad_norm == b.grad_norm && a.learning_rate == b.learning_rate &&
         a.epoch == b.epoch;
}

struct Rate {
  std::optional<double> step_time_s;
  double resolution_s = 0;
};

// "2.31s/it]" or "4.01it/s]".
Rate read_rate(std::string_view text, UnreadValues& unread) {
  const auto number = leading_number(text, unread);
  if (!number || !(number->value > 0)) return {};
  const double half = half_last_digit(number->text);
  if (number->rest.starts_with(kSecondsPerStep)) return {number->value, half};
  if (!number->rest.starts_with(kStepsPerSecond)) return {};
  return {1 / number->value, half / (number->value * number->value)};
}

}  // namespace

std::span<const std::string_view> HfTrainerReader::literals() const {
  return kLiterals;
}

void HfTrainerReader::read(const Record& record, StepLedger& ledger) {
  const std::size_t metrics = record.text.find(kMetrics);
  if (metrics != std::string_view::npos) {
    // A bar may stand on the line too, before the metrics or behind them.
    read_bar(record.text.substr(0, metrics), ledger);
    read_metrics(record.text.substr(metrics), record.offset, ledger);
    return;
  }
  read_bar(record.text, ledger);
}

// "  5%|▌     | 10/200 [00:23<07:16,  2.31s/it]". Bars with a title are those of loading and
// mapping; ms-swift's own says "Train:". Evaluation has a bar of another total.
void HfTrainerReader::read_bar(std::string_view text, StepLedger& ledger) {
  text = trimmed(text);
  if (take_literal(text, "Train:")) text = trimmed(text);
  const auto percent = take_integer(text);
  if (!percent || !take_literal(text, "%|")) return;
  const std::size_t end = text.find('|');
  if (end == std::string_view::npos) return;
  text.remove_prefix(end + 1);
  const auto step = take_integer(text);
  if (!step || !take_literal(text, "/")) return;
  const auto total = take_integer(text);
  if (!total || *step < 0 || *step > *total || *total > kIterationMax) return;
  if (bar_total_ != 0 && *total != bar_total_) return;
  Bar bar;
  bar.step = *step;
  bar.total = *total;
  const std::size_t comma = text.rfind(", ");
  if (comma != std::string_view::npos) {
    UnreadValues unread;
    const Rate rate = read_rate(text.substr(comma + 1), unread);
    if (unread.refusal()) ledger.refuse_line(LineRefusal::step_time_not_read);
    bar.step_time_s = rate.step_time_s;
    bar.resolution_s = rate.resolution_s;
  }
  if (waiting_) {
    numbering_ = Numbering::by_bar;
    add_by_bar(*std::exchange(waiting_, std::nullopt), ledger);
  }
  bar_ = bar;
  bar_is_new_ = true;
}

void HfTrainerReader::read_metrics(std::string_view text, std::uint64_t offset,
                                   StepLedger& ledger) {
  StepSample sample;
  sample.byte_offset = offset;
  std::optional<std::int64_t> last_step;
  bool is_numbered = false;
  UnreadValues unread;
  read_dictionary(text, [&](std::string_view name, std::string_view value) {
    if (name == kSwiftPlace) {
      const auto step = take_iteration(value);
      last_step = take_literal(value, "/") ? take_integer(value) : std::nullopt;
      is_numbered = step && last_step;
      if (is_numbered) sample.iteration = *step;
      return;
    }
    const auto number = leading_number(value, unread);
    if (!number && name == "step_time") unread.note(true, false);
    if (number && trimmed(number->rest).empty()) assign(sample, name, number->value);
  });
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (!is_numbered) return place(std::move(sample), ledger);
  if (bar_ && bar_->step == sample.iteration && !sample.step_time_s) {
    sample.step_time_s = bar_->step_time_s;
    sample.step_time_resolution_s = bar_->resolution_s;
  }
  ledger.add(std::move(sample));
  ledger.declare_last_iteration(*last_step);
}

void HfTrainerReader::place(StepSample sample, StepLedger& ledger) {
  switch (numbering_) {
    case Numbering::by_bar:
      return add_by_bar(std::move(sample), ledger);
    case Numbering::by_position:
      return add_by_position(std::move(sample), ledger);
    case Numbering::unknown:
      break;
  }
  if (waiting_ && are_the_same(*waiting_, sample)) return;
  if (bar_ && bar_->step > 0 && !waiting_) {
    bar_total_ = bar_->total;
    waiting_ = std::move(sample);
    return;
  }
  numbering_ = Numbering::by_position;
  if (waiting_) add_by_position(*std::exchange(waiting_, std::nullopt), ledger);
  add_by_position(std::move(sample), ledger);
}

void HfTrainerReader::add_by_bar(StepSample sample, StepLedger& ledger) {
  const auto& newest = ledger.newest();
  const bool is_new = std::exchange(bar_is_new_, false) && bar_;
  if (newest && are_the_same(*newest, sample) && (!is_new || bar_->step == newest->iteration))
    return;
  if (is_new && (!newest || bar_->step != newest->iteration)) {
    sample.iteration = bar_->step;
    if (!sample.step_time_s) {
      sample.step_time_s = bar_->step_time_s;
      sample.step_time_resolution_s = bar_->resolution_s;
    }
  } else {
    sample.iteration = newest ? newest->iteration + 1 : 1;
    sample.iteration_is_logged = false;
  }
  ledger.add(std::move(sample));
  if (bar_) ledger.declare_last_iteration(bar_->total);
}

void HfTrainerReader::add_by_position(StepSample sample, StepLedger& ledger) {
  const auto& newest = ledger.newest();
  if (newest && are_the_same(*newest, sample)) return;
  sample.iteration = newest ? newest->iteration + 1 : 1;
  sample.iteration_is_logged = false;
  ledger.add(std::move(sample));
}

void HfTrainerReader::finish(StepLedger& ledger) {
  if (!waiting_) return;
  numbering_ = Numbering::by_bar;
  add_by_bar(*std::exchange(waiting_, std::nullopt), ledger);
}

void HfTrainerReader::save(StateWriter& state) const {
  state.integer(static_cast<int>(numbering_));
  state.boolean(bar_.has_value());
  if (bar_) {
    state.integer(bar_->step);
    state.integer(bar_->total);
    state.optional_number(bar_->step_time_s);
    state.number(bar_->resolution_s);
  }
  state.boolean(bar_is_new_);
  state.integer(bar_total_);
  state.boolean(waiting_.has_value());
  if (waiting_) state.sample(*waiting_);
}

void HfTrainerReader::restore(StateReader& state) {
  const std::int64_t numbering = state.integer();
  if (numbering < 0 || numbering > static_cast<int>(Numbering::by_position)) return state.fail();
  numbering_ = static_cast<Numbering>(numbering);
  if (state.boolean()) {
    bar_ = Bar();
    bar_->step = state.integer();
    bar_->total = state.integer();
    bar_->step_time_s = state.optional_number();
    bar_->resolution_s = state.number();
  }
  bar_is_new_ = state.boolean();
  bar_total_ = state.integer();
  if (state.boolean()) waiting_ = state.sample();
}

}  // namespace llmb::parser
