// ModeratedTest: whether two sets of runs differ, told from the logarithms of their locations and
// from what is known of the noise between runs: an empirical-Bayes moderated t (Smyth 2004), which
// has an answer for one run against one. Never on iterations, which share their run's conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "parser/statistics/run_noise.h"

namespace llmb::parser {

struct ModeratedTest {
  std::int64_t baseline_runs = 0;
  std::int64_t other_runs = 0;
  double log_ratio = 0;           // mean of the other's logarithms, less that of the baseline
  double stddev = 0;              // of one run's logarithm: own deviation and prior together
  double standard_error = 0;      // of log_ratio
  double t = 0;                   // log_ratio / standard_error
  double degrees_of_freedom = 0;  // own and the prior's
  double p_value = 1;             // two-sided

  bool operator==(const ModeratedTest&) const = default;
};

// variance = (d0 s0^2 + sum of squares within the sides) / (d0 + n + m - 2), with d0 + n + m - 2
// degrees of freedom, where the sides deviate by less than the prior's s0: see known_variance().
// Neither side may be empty.
ModeratedTest moderated_test(std::span<const double> baseline, std::span<const double> other,
                             const RunNoise& noise);

// Of the ratio other / baseline, both ends included in `confidence`.
struct RatioInterval {
  double low = 1;
  double high = 1;
};
RatioInterval ratio_interval(const ModeratedTest& test, double confidence);

// Two one-sided tests: the p-value of "the ratio lies outside 1/(1+margin) to 1+margin".
double equivalence_p_value(const ModeratedTest& test, double margin);

// The smallest change, as a share, that four of five such comparisons would have shown.
double smallest_visible_difference(const ModeratedTest& test, double confidence);

// How many more runs of each side would show a difference, or that there is none beyond `margin`,
// if means and deviation stay as they are. 0: it is decided. Nothing: more than kMoreRunsMax.
inline constexpr std::int64_t kMoreRunsMax = 50;
std::optional<std::int64_t> more_runs_to_decide(const ModeratedTest& test, double margin,
                                                double confidence);

// Whether a speed stands above a line: bounds of it, each one-sided at `confidence`. `logs`: of
// one side's runs, at least one; of speeds, or of times (then the interval is that of times).
RatioInterval one_sided_bounds(std::span<const double> logs, const RunNoise& noise,
                               double confidence);

// Whether the runs become faster or slower in the order in which they were started, whatever side
// they are on.
struct StartDrift {
  double change_per_run = 0;  // of the location from one start to the next, as a share
  double p_value = 1;
  bool is_separate = false;  // one side had ended its starts before the other began
};
struct StartedRun {
  double log_location = 0;
  bool is_other = false;  // of the other side, not the baseline
};
// In the order of their starts. Nothing where no degree of freedom is left for it.
std::optional<StartDrift> start_drift(std::span<const StartedRun> runs, const RunNoise& noise);

// The same of one side alone: where the other stands still, a slope of both is neither's.
struct SideDrift {
  double change_per_run = 0;  // from one of the side's starts to the next, as a share
  double change = 0;          // from the first of them to the last
  double p_value = 1;
};
// In the order of their starts. Nothing for fewer than three.
std::optional<SideDrift> side_drift(std::span<const StartedRun> runs, const RunNoise& noise);

}  // namespace llmb::parser
