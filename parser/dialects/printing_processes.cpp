#include "parser/dialects/printing_processes.h"

#include <algorithm>

#include "parser/foundation/text_hash.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

// Of an attempt's first steps any process may print its first line late; afterwards one that was
// not seen yet is of another attempt, whose labels are others.
constexpr std::size_t kFirstSteps = 4;
constexpr std::uint64_t kLabelSeed = 0;

}  // namespace

std::optional<std::uint64_t> PrintingProcesses::process_of_line() const {
  const std::string_view label = process_label(line_);
  return label.empty() ? std::nullopt : std::optional(hash_text(label, kLabelSeed));
}

bool PrintingProcesses::is_late(std::int64_t iteration) const {
  if (!std::binary_search(steps_.begin(), steps_.end(), iteration)) return false;
  const auto process = process_of_line();
  if (!process || newest_of_.empty()) return false;
  const auto known = newest_of_.find(*process);
  if (known != newest_of_.end()) return known->second < iteration;
  // One process alone that printed so far may have been followed by another attempt's.
  const bool are_several = newest_of_.size() > 1 || iteration == steps_.back();
  return steps_.size() <= kFirstSteps && are_several;
}

void PrintingProcesses::note(std::int64_t iteration) {
  const auto process = process_of_line();
  if (steps_.empty() || iteration > steps_.back()) {
    steps_.push_back(iteration);
    if (steps_.size() > kStepsMax) {
      steps_.pop_front();
      std::erase_if(newest_of_, [&](const auto& one) { return one.second < steps_.front(); });
    }
  }
  if (!process) return;
  const auto known = newest_of_.find(*process);
  if (known != newest_of_.end()) {
    known->second = std::max(known->second, iteration);
  } else if (newest_of_.size() < kProcessesMax) {
    newest_of_.emplace(*process, iteration);
  }
}

void PrintingProcesses::begin_anew() {
  steps_.clear();
  newest_of_.clear();
}

void PrintingProcesses::save(StateWriter& state) const {
  state.unsigned_integer(steps_.size());
  for (const std::int64_t step : steps_) state.integer(step);
  state.unsigned_integer(newest_of_.size());
  for (const auto& [process, newest] : newest_of_) {
    state.unsigned_integer(process);
    state.integer(newest);
  }
}

void PrintingProcesses::restore(StateReader& state) {
  begin_anew();
  steps_.resize(state.count(kStepsMax));
  for (std::int64_t& step : steps_) step = state.integer();
  const std::size_t processes = state.count(kProcessesMax);
  for (std::size_t i = 0; i < processes; ++i) {
    const std::uint64_t process = state.unsigned_integer();
    newest_of_[process] = state.integer();
  }
}

}  // namespace llmb::parser
