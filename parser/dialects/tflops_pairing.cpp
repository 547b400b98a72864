#include "parser/dialects/tflops_pairing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace llmb::parser {
namespace {

// Costs, relative to each other. A lone line must cost less than a few steps of a shifted series
// and more than an inverted pair; a pair is left alone if it costs more than two lone lines. Twice
// the cost of a line between stays below an inverted pair: A A B B are two pairs in order.
constexpr double kLoneCost = 1.2;
constexpr double kBetweenCost = 0.15;   // for each line between the two, up to kBetweenMax:
constexpr std::size_t kBetweenMax = 2;  // ranks that buffer print a whole run of lines at once
// The more a log has kept to its order, the more a pair against it costs, and a change of order.
constexpr double kInvertedCost = 0.35;
constexpr double kInvertedEvidenceCost = 0.04;
constexpr double kOrderChangeCost = 1.0;
constexpr double kOrderChangeEvidenceCost = 0.2;
constexpr std::int64_t kOrderEvidenceMax = 10;
constexpr double kImpossible = 1e9;

// Rounding explains a difference of half a digit. Beyond it, a few milliseconds are the ranks'
// own, and times that differ by a quarter are not of one step.
double time_cost(double step_time_line_s, double iteration_s, double rounding_s) {
  const double difference = std::abs(step_time_line_s - iteration_s);
  if (!std::isfinite(difference)) return 1;
  const double excess = std::max(0.0, difference - rounding_s);
  if (excess > 0.25 * std::max(iteration_s, step_time_line_s)) return kImpossible;
  const double tolerance = 0.003 + 0.002 * std::abs(iteration_s);
  const double ratio = excess / tolerance;
  return ratio <= 1 ? ratio : 2 - 1 / ratio;
}

constexpr double kStepTimeLineRoundingS = 0.00501;

}  // namespace

double TflopsPairing::pair_cost(std::size_t step_time, std::size_t iteration,
                                bool step_time_first) const {
  const StepSample& sample = entries_[iteration].sample;
  const double iteration_s = sample.step_time_s.value_or(NAN);
  const double rounding_s = kStepTimeLineRoundingS + sample.step_time_resolution_s;
  const bool is_inverted = (step_time < iteration) != step_time_first;
  const double inverted_cost =
      kInvertedCost + kInvertedEvidenceCost * static_cast<double>(order_evidence_);
  const std::size_t between = std::max(step_time, iteration) - std::min(step_time, iteration) - 1;
  return time_cost(entries_[step_time].line.step_time_s, iteration_s, rounding_s) +
         (is_inverted ? inverted_cost : 0) +
         kBetweenCost * static_cast<double>(std::min(between, kBetweenMax));
}

// The classic alignment of two sequences: best[i][j] is the cost of the first i Step Time lines and
// the first j iterations.
TflopsPairing::AlignmentCost TflopsPairing::align(bool step_time_first, Partners& partners) const {
  std::vector<std::size_t> times;
  std::vector<std::size_t> iterations;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    (entries_[i].is_iteration ? iterations : times).push_back(i);
  }
  enum class Move : unsigned char { none, pair, lone_time, lone_iteration };
  struct Cell {
    double cost = 0;
    Move move = Move::none;
  };
  const std::size_t width = iterations.size() + 1;
  std::vector<Cell> best((times.size() + 1) * width);
  for (std::size_t i = 0; i <= times.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      if (i == 0 && j == 0) continue;
      Cell cell{std::numeric_limits<double>::infinity(), Move::none};
      const auto consider = [&](const Cell& from, double cost, Move move) {
        if (from.cost + cost < cell.cost) cell = {from.cost + cost, move};
      };
      if (i > 0 && j > 0) {
        consider(best[(i - 1) * width + j - 1],
                 pair_cost(times[i - 1], iterations[j - 1], step_time_first), Move::pair);
      }
      if (i > 0) consider(best[(i - 1) * width + j], kLoneCost, Move::lone_time);
      if (j > 0) consider(best[i * width + j - 1], kLoneCost, Move::lone_iteration);
      best[i * width + j] = cell;
    }
  }
  partners.assign(entries_.size(), std::nullopt);
  std::size_t i = times.size();
  std::size_t j = iterations.size();
  while (i > 0 || j > 0) {
    const Move move = best[i * width + j].move;
    if (move == Move::pair) {
      partners[times[i - 1]] = iterations[j - 1];
      partners[iterations[j - 1]] = times[i - 1];
    }
    if (move != Move::lone_iteration) --i;
    if (move != Move::lone_time) --j;
  }
  const bool newest_is_iteration = entries_.back().is_iteration;
  const std::size_t without_newest = best.size() - 1 - (newest_is_iteration ? 1 : width);
  const double total = best.back().cost;
  return {total, std::min(total, best[without_newest].cost)};
}

// True while the window holds nothing but neighbours that pair for free, in the prevailing order,
// and perhaps the first of the next pair: then no alignment is cheaper, and none is computed.
bool TflopsPairing::stays_in_step() const {
  const std::size_t newest = entries_.size() - 1;
  const bool is_first_of_pair = entries_[newest].is_iteration != step_time_first_;
  if (newest % 2 == 0) return is_first_of_pair;
  if (is_first_of_pair) return false;
  const std::size_t iteration = step_time_first_ ? newest : newest - 1;
  return pair_cost(2 * newest - 1 - iteration, iteration, step_time_first_) == 0;
}

void TflopsPairing::set_tflops(Entry& iteration, std::optional<double> tflops,
                               std::vector<StepSample>& changed) {
  if (iteration.has_own_tflops || iteration.sample.tflops_per_gpu == tflops) return;
  iteration.sample.tflops_per_gpu = tflops;
  changed.push_back(iteration.sample);
}

std::vector<StepSample> TflopsPairing::settle() {
  std::vector<StepSample> changed;
  in_step_ = in_step_ && stays_in_step();
  if (!in_step_) {
    settle_by_alignment(changed);
    return changed;
  }
  const std::size_t newest = entries_.size() - 1;
  if (newest % 2 == 1) {
    const std::size_t iteration = step_time_first_ ? newest : newest - 1;
    const std::size_t step_time = 2 * newest - 1 - iteration;
    set_tflops(entries_[iteration], entries_[step_time].line.tflops_per_gpu, changed);
  }
  if (entries_.size() > kWindowLines) {
    entries_.erase(entries_.begin(), entries_.begin() + 2);
    order_evidence_ = std::min(order_evidence_ + 1, kOrderEvidenceMax);
  }
  return changed;
}

void TflopsPairing::settle_by_alignment(std::vector<StepSample>& changed) {
  Partners partners;
  Partners other;
  AlignmentCost cost = align(step_time_first_, partners);
  const AlignmentCost other_cost = align(!step_time_first_, other);
  const double change_cost =
      kOrderChangeCost + kOrderChangeEvidenceCost * static_cast<double>(order_evidence_);
  if (other_cost.while_newest_waits + change_cost < cost.while_newest_waits) {
    step_time_first_ = !step_time_first_;
    order_evidence_ = 0;
    partners = std::move(other);
    cost = other_cost;
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].is_iteration) continue;
    const auto tflops =
        partners[i] ? entries_[*partners[i]].line.tflops_per_gpu : std::optional<double>();
    set_tflops(entries_[i], tflops, changed);
  }
  while (entries_.size() > kWindowLines) forget_oldest(partners);
  in_step_ = cost.total == 0;
}

void TflopsPairing::forget_oldest(Partners& partners) {
  const auto erase = [&](std::size_t index) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
    partners.erase(partners.begin() + static_cast<std::ptrdiff_t>(index));
    for (auto& partner : partners) {
      if (partner && *partner > index) --*partner;
    }
  };
  if (const auto partner = partners[0]) {
    const bool is_prevailing = entries_[0].is_iteration != step_time_first_;
    const std::int64_t evidence = order_evidence_ + (is_prevailing ? 1 : -1);
    order_evidence_ = std::clamp<std::int64_t>(evidence, 0, kOrderEvidenceMax);
    erase(*partner);
  }
  erase(0);
}

std::vector<StepSample> TflopsPairing::add_step_time(const StepTimeLine& line) {
  entries_.push_back({false, false, line, {}});
  return settle();
}

std::vector<StepSample> TflopsPairing::add_iteration(const StepSample& sample) {
  entries_.push_back({true, sample.tflops_per_gpu.has_value(), {}, sample});
  return settle();
}

void TflopsPairing::replace_iteration(const StepSample& sample) {
  for (Entry& entry : entries_) {
    if (!entry.is_iteration || entry.sample.segment != sample.segment ||
        entry.sample.iteration != sample.iteration) {
      continue;
    }
    const auto tflops = entry.sample.tflops_per_gpu;
    entry.has_own_tflops = entry.has_own_tflops || sample.tflops_per_gpu != tflops;
    entry.sample = sample;
  }
}

void TflopsPairing::save(StateWriter& state) const {
  state.boolean(step_time_first_);
  state.boolean(in_step_);
  state.integer(order_evidence_);
  state.unsigned_integer(entries_.size());
  for (const Entry& entry : entries_) {
    state.boolean(entry.is_iteration);
    state.boolean(entry.has_own_tflops);
    if (entry.is_iteration) {
      state.sample(entry.sample);
    } else {
      state.number(entry.line.step_time_s);
      state.optional_number(entry.line.tflops_per_gpu);
    }
  }
}

void TflopsPairing::restore(StateReader& state) {
  step_time_first_ = state.boolean();
  in_step_ = state.boolean();
  order_evidence_ = state.integer();
  entries_.resize(state.count(kWindowLines));
  for (Entry& entry : entries_) {
    entry.is_iteration = state.boolean();
    entry.has_own_tflops = state.boolean();
    if (entry.is_iteration) {
      entry.sample = state.sample();
    } else {
      entry.line.step_time_s = state.number();
      entry.line.tflops_per_gpu = state.optional_number();
    }
  }
}

}  // namespace llmb::parser
