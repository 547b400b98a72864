// StepInsight: what the step times of one pass show beside their mean: how long warm-up lasts,
// which steps stand out, whether every n-th is slow, whether the time changes slowly over the run,
// and how much memory was used. Robust throughout: a few extreme steps do not move what the others
// are compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parser/statistics/step_drift.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// With fewer timed steps nothing is said of them.
inline constexpr std::int64_t kInsightStepsMin = 8;
inline constexpr std::size_t kOutliersMax = 64;

// A step that is further from the steady median than both
//   6 robust standard deviations (1.4826 · median absolute deviation) and 5 % of the median.
struct StepOutlier {
  std::int64_t iteration = 0;
  double step_time_s = 0;
  double ratio = 0;  // step_time_s over the steady median

  bool operator==(const StepOutlier&) const = default;
};

// Every `period`-th iteration takes longer, from `first_iteration` on.
struct PeriodicSlowness {
  std::int64_t period = 0;  // in iterations
  std::int64_t first_iteration = 0;
  std::int64_t step_count = 0;  // slow ones that keep to the period
  double step_time_s_median = 0;
  double ratio = 0;  // of that median, over the steady one
  // Of the time of one period: (ratio - 1) / (n + ratio - 1), of n = period / logging interval.
  double time_share_lost = 0;

  bool operator==(const PeriodicSlowness&) const = default;
};

struct StepInsight {
  std::int64_t timed_step_count = 0;
  // Nothing below is known where timed_step_count is under kInsightStepsMin.
  std::optional<double> steady_step_time_s;            // median of the second half of the steps
  std::optional<double> steady_step_time_s_deviation;  // 1.4826 · median absolute deviation
  // The last slow step before the times are steady; nothing where they are so from the first on,
  // or never.
  std::optional<std::int64_t> warm_up_last_iteration;
  std::int64_t warm_up_step_count = 0;
  bool becomes_steady = false;
  std::int64_t outlier_count = 0;     // after warm-up, beside those that come periodically
  std::vector<StepOutlier> outliers;  // the first kOutliersMax of them
  std::optional<PeriodicSlowness> periodic;
  std::optional<StepDrift> drift;  // of the steps after warm-up

  // As logged: peak or reserved, and allocated.
  std::optional<double> memory_bytes_max;
  std::optional<std::int64_t> memory_bytes_max_iteration;
  std::optional<double> memory_bytes_allocated_max;

  bool operator==(const StepInsight&) const = default;
};

// `samples`: of one segment, by iteration.
StepInsight compute_step_insight(std::span<const StepSample> samples);

}  // namespace llmb::parser
