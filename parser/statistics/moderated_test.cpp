#include "parser/statistics/moderated_test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "parser/statistics/student_t.h"

namespace llmb::parser {
namespace {

constexpr double kPower = 0.8;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_within(std::span<const double> values) {
  const double mean = mean_of(values);
  return std::accumulate(values.begin(), values.end(), 0.0, [mean](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
}

// P(T > t).
double upper_tail(double t, double degrees) {
  const double half = student_t_two_sided_p(t, degrees) / 2;
  return t > 0 ? half : 1 - half;
}

// The t that T stays below with this probability, which is at least one half.
double one_sided_quantile(double probability, double degrees) {
  return student_t_quantile(2 * probability - 1, degrees);
}

// The same two sides with `more` runs added to each, deviation and means unchanged.
ModeratedTest with_more_runs(ModeratedTest test, std::int64_t more) {
  test.baseline_runs += more;
  test.other_runs += more;
  test.degrees_of_freedom += 2 * static_cast<double>(more);
  test.standard_error = test.stddev * std::sqrt(1.0 / static_cast<double>(test.baseline_runs) +
                                                1.0 / static_cast<double>(test.other_runs));
  test.t = test.log_ratio / test.standard_error;
  test.p_value = student_t_two_sided_p(test.t, test.degrees_of_freedom);
  return test;
}

// Of a regression's slope, from its sums about the means: that it is none.
double slope_p_value(double sxx, double sxy, double syy, double degrees_of_freedom,
                     const RunNoise& noise) {
  const double squares_left = std::max(0.0, syy - sxy * sxy / sxx);
  const KnownVariance known = known_variance(noise, squares_left, degrees_of_freedom);
  return student_t_two_sided_p(sxy / std::sqrt(sxx) / known.stddev, known.degrees_of_freedom);
}

}  // namespace

ModeratedTest moderated_test(std::span<const double> baseline, std::span<const double> other,
                             const RunNoise& noise) {
  ModeratedTest test;
  test.baseline_runs = static_cast<std::int64_t>(baseline.size());
  test.other_runs = static_cast<std::int64_t>(other.size());
  test.log_ratio = mean_of(other) - mean_of(baseline);
  const KnownVariance known =
      known_variance(noise, squares_within(baseline) + squares_within(other),
                     static_cast<double>(baseline.size() + other.size()) - 2);
  test.degrees_of_freedom = known.degrees_of_freedom;
  test.stddev = known.stddev;
  return with_more_runs(test, 0);
}

RatioInterval ratio_interval(const ModeratedTest& test, double confidence) {
  const double half = student_t_quantile(confidence, test.degrees_of_freedom) * test.standard_error;
  return {std::exp(test.log_ratio - half), std::exp(test.log_ratio + half)};
}

double equivalence_p_value(const ModeratedTest& test, double margin) {
  const double distance = std::log1p(margin) - std::abs(test.log_ratio);
  return upper_tail(distance / test.standard_error, test.degrees_of_freedom);
}

double smallest_visible_difference(const ModeratedTest& test, double confidence) {
  const double t = student_t_quantile(confidence, test.degrees_of_freedom) +
                   one_sided_quantile(kPower, test.degrees_of_freedom);
  return std::expm1(t * test.standard_error);
}

std::optional<std::int64_t> more_runs_to_decide(const ModeratedTest& test, double margin,
                                                double confidence) {
  for (std::int64_t more = 0; more <= kMoreRunsMax; ++more) {
    const ModeratedTest later = with_more_runs(test, more);
    if (later.p_value < 1 - confidence || equivalence_p_value(later, margin) < 1 - confidence) {
      return more;
    }
  }
  return std::nullopt;
}

RatioInterval one_sided_bounds(std::span<const double> logs, const RunNoise& noise,
                               double confidence) {
  const auto count = static_cast<double>(logs.size());
  const KnownVariance known = known_variance(noise, squares_within(logs), count - 1);
  const double half =
      one_sided_quantile(confidence, known.degrees_of_freedom) * known.stddev / std::sqrt(count);
  const double mean = mean_of(logs);
  return {std::exp(mean - half), std::exp(mean + half)};
}

std::optional<StartDrift> start_drift(std::span<const StartedRun> runs, const RunNoise& noise) {
  struct Side {
    double count = 0;
    double order = 0;  // sums, then means
    double location = 0;
  };
  std::array<Side, 2> sides;
  const auto count = static_cast<double>(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Side& side = sides.at(runs[i].is_other ? 1 : 0);
    side.count += 1;
    side.order += static_cast<double>(i);
    side.location += runs[i].log_location;
  }
  if (sides[0].count == 0 || sides[1].count == 0 || count < 4) return std::nullopt;
  for (Side& side : sides) {
    side.order /= side.count;
    side.location /= side.count;
  }
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Side& side = sides.at(runs[i].is_other ? 1 : 0);
    const double x = static_cast<double>(i) - side.order;
    const double y = runs[i].log_location - side.location;
    sxx += x * x;
    sxy += x * y;
    syy += y * y;
    if (i > 0 && runs[i].is_other != runs[i - 1].is_other) ++changes;
  }
  if (sxx <= 0) return std::nullopt;
  StartDrift drift;
  drift.change_per_run = std::expm1(sxy / sxx);
  drift.p_value = slope_p_value(sxx, sxy, syy, count - 3, noise);
  drift.is_separate = changes == 1;
  return drift;
}

std::optional<SideDrift> side_drift(std::span<const StartedRun> runs, const RunNoise& noise) {
  if (runs.size() < 3) return std::nullopt;
  const auto count = static_cast<double>(runs.size());
  double mean = 0;
  for (const StartedRun& run : runs) mean += run.log_location / count;
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    const double y = runs[i].log_location - mean;
    sxx += x * x;
    sxy += x * y;
    syy += y * y;
  }
  const double slope = sxy / sxx;
  return SideDrift{std::expm1(slope), std::expm1(slope * (count - 1)),
                   slope_p_value(sxx, sxy, syy, count - 2, noise)};
}

}  // namespace llmb::parser
