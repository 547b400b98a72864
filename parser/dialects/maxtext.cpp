#include "parser/dialects/maxtext.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "completed step:";
// "completed profiler activation/deactivation step: 10, …"
constexpr std::string_view kProfilerMarker = "completed profiler ";
constexpr std::string_view kProfilerStep = "step:";
constexpr std::array kLiterals = {kMarker, kProfilerMarker};
// How far processes may lie apart.
constexpr std::size_t kRecentStepsMax = 4;
constexpr std::int64_t kPrintsMax = 10'000'000;

void assign(StepSample& sample, std::string_view name, const Number& number) {
  if (name == "seconds") {
    sample.step_time_s = number.value;
    sample.step_time_resolution_s = half_last_digit(number.text);
  } else if (name == "TFLOP/s/device") {
    sample.tflops_per_gpu = known_tflops(number.value);
  } else if (name == "loss") {
    sample.loss = number.value;
  } else {
    add_extra_field(sample, name, number.value);
  }
}

}  // namespace

std::span<const std::string_view> MaxtextReader::literals() const {
  return kLiterals;
}

void MaxtextReader::read(const Record& record, StepLedger& ledger) {
  if (const auto profiler = record.text.find(kProfilerMarker); profiler != std::string_view::npos) {
    const std::string_view text = record.text.substr(profiler);
    const std::size_t at = text.find(kProfilerStep);
    if (at == std::string_view::npos) return;
    read_one(text.substr(at + kProfilerStep.size()), record.offset, true, ledger);
    return;
  }
  std::size_t begin = record.text.find(kMarker);
  while (begin != std::string_view::npos) {
    const std::size_t next = record.text.find(kMarker, begin + 1);
    read_one(record.text.substr(begin, next - begin).substr(kMarker.size()), record.offset, false,
             ledger);
    begin = next;
  }
}

void MaxtextReader::read_one(std::string_view text, std::uint64_t offset, bool is_profiler_line,
                             StepLedger& ledger) {
  const auto step = take_iteration(text);
  const bool has_fields = take_literal(text, ", ");
  if (!step || (!has_fields && !is_profiler_line)) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.iteration = *step;
  UnreadValues unread;
  read_fields(
      text, {", ", ": "},
      [&](std::string_view name, const Number& number) { assign(sample, name, number); },
      [&](std::string_view name, bool is_number) { unread.note(name == "seconds", is_number); });
  if (const auto refusal = unread.refusal()) ledger.refuse_line(*refusal);
  if (is_profiler_line && !sample.step_time_s) add_extra_field(sample, kTimeIsHidden, 1);
  if (is_another_process(*step, ledger)) {
    ledger.note_print(*step);
  } else {
    ledger.add(std::move(sample));
  }
}

// Of the first steps nobody knows yet how many processes print them: where there are several, a few
// may be late with one. A restart repeats it by all of them.
bool MaxtextReader::may_be_late(const PrintedStep& recent) const {
  if (recent.prints < processes_) return true;
  const bool are_first_steps = recent_.size() < kRecentStepsMax;
  const std::int64_t in_time = recent.prints - recent.late_prints;
  return are_first_steps && processes_ > 1 && 2 * (recent.late_prints + 1) <= in_time;
}

// A restart repeats steps too, but goes on from there: where each step was printed once so far, one
// that lies back begins the next segment. Labels tell more.
bool MaxtextReader::is_another_process(std::int64_t step, const StepLedger& ledger) {
  const auto& newest = ledger.newest();
  if (!newest || step > newest->iteration) {
    recent_.push_back({step, 1, 0});
    if (recent_.size() > kRecentStepsMax) recent_.pop_front();
    return false;
  }
  const auto known = std::find_if(recent_.begin(), recent_.end(),
                                  [&](const PrintedStep& recent) { return recent.step == step; });
  const bool is_newest = step == newest->iteration;
  if (known != recent_.end() && (is_newest || may_be_late(*known))) {
    processes_ = std::max(processes_, ++known->prints);
    if (!is_newest) ++known->late_prints;
    return true;
  }
  if (ledger.is_late(step)) return true;
  recent_ = {{step, 1, 0}};
  processes_ = 1;
  return false;
}

void MaxtextReader::save(StateWriter& state) const {
  state.unsigned_integer(recent_.size());
  for (const PrintedStep& recent : recent_) {
    state.integer(recent.step);
    state.integer(recent.prints);
    state.integer(recent.late_prints);
  }
  state.integer(processes_);
}

void MaxtextReader::restore(StateReader& state) {
  recent_.resize(state.count(kRecentStepsMax));
  for (PrintedStep& recent : recent_) {
    recent.step = state.integer();
    recent.prints = state.integer();
    recent.late_prints = state.integer();
  }
  processes_ = std::min(state.integer(), kPrintsMax);
}

}  // namespace llmb::parser
