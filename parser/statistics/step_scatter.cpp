#include "parser/statistics/step_scatter.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

namespace llmb::parser {
namespace {

// Fewer tell too little of the others.
constexpr std::size_t kSteadyStepsMin = 5;

constexpr std::ptrdiff_t kKept = kNewestSteps;

// What a normal value of the deviation 1 stays below with this probability, from one half on:
// Newton's steps from 0, all of which end short of it.
double normal_quantile(double probability) {
  constexpr int kStepsMax = 40;
  constexpr double kNear = 1e-9;
  const double sqrt_two_pi = std::sqrt(2 * std::numbers::pi);
  double z = 0;
  for (int i = 0; i < kStepsMax; ++i) {
    const double missing = probability - std::erfc(-z / std::numbers::sqrt2) / 2;
    const double step = missing * sqrt_two_pi * std::exp(z * z / 2);
    z += step;
    if (step < kNear) break;
  }
  return z;
}

bool is_time(double time_s) {
  return std::isfinite(time_s) && time_s > 0;
}

}  // namespace

double step_scatter_of(const WindowStatistics& times) {
  const auto count = static_cast<double>(times.count);
  // Both sides of the median, each in standard deviations of a normal one: slow steps widen the
  // upper side only, a single fast one the lower.
  constexpr double kP95 = 1.645;
  const double lowest = normal_quantile((count - 0.375) / (count + 0.25));
  const double above = std::max(0.0, (times.p95 - times.median) / kP95);
  const double below = std::max(0.0, (times.median - times.min) / lowest);
  constexpr double kOneSided = 1.5;  // times the narrower side, the wider one is not of all steps
  return std::min((above + below) / 2, kOneSided * std::min(above, below)) / times.median;
}

std::optional<SteadySteps> steady_steps_of(std::vector<double> newest_first) {
  std::erase_if(newest_first, [](double time_s) { return !is_time(time_s); });
  newest_first.resize(static_cast<std::size_t>(std::min(std::ssize(newest_first), kKept)) / 2);
  if (newest_first.size() < kSteadyStepsMin) return std::nullopt;
  const auto times = compute_window_statistics(newest_first);
  return SteadySteps{times->median, step_scatter_of(*times)};
}

void NewestStepTimes::add(const StepSample& sample) {
  if (!sample.step_time_s || !is_time(*sample.step_time_s)) return;
  const Step step = {sample.segment, sample.iteration, *sample.step_time_s};
  const auto next =
      std::lower_bound(steps_.begin(), steps_.end(), step, [](const Step& one, const Step& other) {
        return std::pair(one.segment, one.iteration) < std::pair(other.segment, other.iteration);
      });
  if (next == steps_.end()) {
    if (std::ssize(steps_) == 2 * kKept) steps_.erase(steps_.begin(), steps_.begin() + kKept);
    steps_.push_back(step);
  } else if (next->segment == step.segment && next->iteration == step.iteration) {
    next->time_s = step.time_s;
  }
}

std::vector<double> NewestStepTimes::newest_first() const {
  std::vector<double> times_s;
  for (auto step = steps_.rbegin(); step != steps_.rend() && std::ssize(times_s) < kKept; ++step) {
    times_s.push_back(step->time_s);
  }
  return times_s;
}

}  // namespace llmb::parser
