#include "parser/statistics/step_insight.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

constexpr double kOutlierDeviations = 6;
constexpr double kOutlierShare = 0.05;
// What comes back regularly is told from less: chance does not keep time.
constexpr double kPeriodicDeviations = 4;
constexpr double kPeriodicShare = 0.01;
constexpr double kPeriodKept = 0.8;
constexpr std::size_t kPeriodicStepsMin = 3;
constexpr std::int64_t kPeriodMin = 3;
// Steady from a step on: it and three of the next four are no slower than steady ones.
constexpr std::size_t kSteadyRun = 5;
constexpr std::size_t kSteadyOfRun = 4;

using TimedStep = DriftStep;

struct Steady {
  double median_s = 0;
  double deviation_s = 0;

  double distance_s(double deviations, double share) const {
    return std::max(deviations * deviation_s, share * median_s);
  }
  bool is_slow(double time_s) const {
    return time_s > median_s + distance_s(kOutlierDeviations, kOutlierShare);
  }
  bool is_outlier(double time_s) const {
    return std::abs(time_s - median_s) > distance_s(kOutlierDeviations, kOutlierShare);
  }
  bool is_slowish(double time_s) const {
    return time_s > median_s + distance_s(kPeriodicDeviations, kPeriodicShare);
  }
};

// The second half is past any warm-up. `resolution_s`: times that are rounded more coarsely than
// they vary have no deviation at all.
Steady measure_steady(std::span<const TimedStep> steps, double resolution_s) {
  std::vector<double> times_s;
  for (const TimedStep& step : steps.subspan(steps.size() / 2)) times_s.push_back(step.time_s);
  Steady steady;
  steady.median_s = median_of(times_s);
  for (double& time_s : times_s) time_s = std::abs(time_s - steady.median_s);
  steady.deviation_s = std::max(kDeviationsPerMad * median_of(times_s), resolution_s);
  return steady;
}

// The index of the first steady step, or steps.size().
std::size_t find_steady_begin(std::span<const TimedStep> steps, const Steady& steady) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steady.is_slow(steps[i].time_s)) continue;
    const auto run = steps.subspan(i, std::min(kSteadyRun, steps.size() - i));
    const auto slow =
        static_cast<std::size_t>(std::count_if(run.begin(), run.end(), [&](const TimedStep& step) {
          return steady.is_slow(step.time_s);
        }));
    if (slow <= kSteadyRun - kSteadyOfRun) return i;
  }
  return steps.size();
}

std::int64_t most_common_gap(std::span<const TimedStep> slow) {
  std::map<std::int64_t, int> counts;
  for (std::size_t i = 1; i < slow.size(); ++i) {
    ++counts[slow[i].iteration - slow[i - 1].iteration];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

// The remainder that most of the slow steps leave.
std::int64_t most_common_phase(std::span<const TimedStep> slow, std::int64_t period) {
  std::map<std::int64_t, int> counts;
  for (const TimedStep& step : slow) ++counts[step.iteration % period];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::optional<PeriodicSlowness> find_periodic(std::span<const TimedStep> steps,
                                              const Steady& steady) {
  std::vector<TimedStep> slow;
  for (const TimedStep& step : steps) {
    if (steady.is_slowish(step.time_s)) slow.push_back(step);
  }
  if (slow.size() < kPeriodicStepsMin) return std::nullopt;
  const std::int64_t period = most_common_gap(slow);
  // Where only every n-th iteration is logged, a period of n is every step there is.
  const std::int64_t interval = steps.size() < 2 ? 1 : steps[1].iteration - steps[0].iteration;
  if (period < kPeriodMin * std::max<std::int64_t>(interval, 1)) return std::nullopt;
  const std::int64_t phase = most_common_phase(slow, period);

  const auto is_in_phase = [&](const TimedStep& step) { return step.iteration % period == phase; };
  const auto expected = std::count_if(steps.begin(), steps.end(), is_in_phase);
  std::vector<double> times_s;
  PeriodicSlowness found;
  found.period = period;
  for (const TimedStep& step : slow) {
    if (!is_in_phase(step)) continue;
    if (times_s.empty()) found.first_iteration = step.iteration;
    times_s.push_back(step.time_s);
  }
  const auto kept = static_cast<double>(times_s.size());
  if (times_s.size() < kPeriodicStepsMin || kept < kPeriodKept * static_cast<double>(expected) ||
      kept < kPeriodKept * static_cast<double>(slow.size())) {
    return std::nullopt;
  }
  found.step_count = static_cast<std::int64_t>(times_s.size());
  found.step_time_s_median = median_of(times_s);
  found.ratio = found.step_time_s_median / steady.median_s;
  const double steps_a_period = static_cast<double>(period) / static_cast<double>(interval);
  found.time_share_lost = (found.ratio - 1) / (steps_a_period + found.ratio - 1);
  return found;
}

void find_outliers(std::span<const TimedStep> steps, const Steady& steady, StepInsight& insight) {
  for (const TimedStep& step : steps) {
    if (!steady.is_outlier(step.time_s)) continue;
    const bool is_periodic =
        insight.periodic && step.time_s > steady.median_s &&
        (step.iteration - insight.periodic->first_iteration) % insight.periodic->period == 0;
    if (is_periodic) continue;
    ++insight.outlier_count;
    if (insight.outliers.size() == kOutliersMax) continue;
    insight.outliers.push_back({step.iteration, step.time_s, step.time_s / steady.median_s});
  }
}

void summarize_memory(std::span<const StepSample> samples, StepInsight& insight) {
  for (const StepSample& sample : samples) {
    const auto& peak = sample.memory_bytes_max;
    if (peak && std::isfinite(*peak) && *peak > insight.memory_bytes_max.value_or(0)) {
      insight.memory_bytes_max = *peak;
      insight.memory_bytes_max_iteration = sample.iteration;
    }
    const auto& allocated = sample.memory_bytes_allocated;
    if (allocated && std::isfinite(*allocated)) {
      insight.memory_bytes_allocated_max =
          std::max(insight.memory_bytes_allocated_max.value_or(0), *allocated);
    }
  }
}

}  // namespace

StepInsight compute_step_insight(std::span<const StepSample> samples) {
  StepInsight insight;
  summarize_memory(samples, insight);
  std::vector<TimedStep> steps;
  std::vector<double> resolutions_s;
  for (const StepSample& sample : samples) {
    const auto& time_s = sample.step_time_s;
    if (!time_s || !std::isfinite(*time_s) || *time_s <= 0) continue;
    steps.push_back({sample.iteration, *time_s});
    resolutions_s.push_back(sample.step_time_resolution_s);
  }
  insight.timed_step_count = static_cast<std::int64_t>(steps.size());
  if (insight.timed_step_count < kInsightStepsMin) return insight;

  // As most are printed: a long step has fewer decimals (101.2 beside 9.123).
  const double resolution_s = median_of(resolutions_s);
  const Steady steady = measure_steady(steps, resolution_s);
  insight.steady_step_time_s = steady.median_s;
  insight.steady_step_time_s_deviation = steady.deviation_s;
  const std::size_t begin = find_steady_begin(steps, steady);
  insight.becomes_steady = begin < steps.size();
  if (!insight.becomes_steady) return insight;
  insight.warm_up_step_count = static_cast<std::int64_t>(begin);
  if (begin > 0) insight.warm_up_last_iteration = steps[begin - 1].iteration;
  const auto rest = std::span<const TimedStep>(steps).subspan(begin);
  insight.periodic = find_periodic(rest, steady);
  find_outliers(rest, steady, insight);
  insight.drift = find_drift(rest, resolution_s);
  return insight;
}

}  // namespace llmb::parser
