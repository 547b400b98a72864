#include "parser/statistics/step_drift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parser/statistics/median.h"
#include "parser/statistics/robust_line.h"
#include "parser/statistics/student_t.h"

namespace llmb::parser {
namespace {

// Of longer runs the medians of so many blocks are looked at: all pairs of them are few, and a
// block that holds a slow step is as the others.
constexpr std::size_t kDriftBlocks = 60;
constexpr double kCorrelationMax = 0.95;
// The Theil-Sen slope varies a little more than that of least squares.
constexpr double kTheilSenFactor = 1.05;

std::vector<LinePoint> block_medians(std::span<const DriftStep> steps) {
  const std::size_t blocks = std::min(kDriftBlocks, steps.size());
  std::vector<LinePoint> points;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = i * steps.size() / blocks;
    const auto block = steps.subspan(begin, (i + 1) * steps.size() / blocks - begin);
    std::vector<double> iterations;
    std::vector<double> times_s;
    for (const DriftStep& step : block) {
      iterations.push_back(static_cast<double>(step.iteration));
      times_s.push_back(step.time_s);
    }
    points.push_back({median_of(iterations), median_of(times_s)});
  }
  return points;
}

// Of neighbours. Too small where it is taken from what a fitted line leaves; made up for.
double correlation_of(std::span<const double> residuals, double sum_of_squares) {
  double product = 0;
  for (std::size_t i = 1; i < residuals.size(); ++i) product += residuals[i] * residuals[i - 1];
  const double plain = product / sum_of_squares;
  return std::clamp(plain + (2 + 4 * plain) / static_cast<double>(residuals.size()), 0.0,
                    kCorrelationMax);
}

}  // namespace

std::optional<StepDrift> test_drift(std::span<const DriftStep> steps, double resolution_s) {
  if (steps.size() < kDriftStepsMin) return std::nullopt;
  const std::vector<LinePoint> points = block_medians(steps);
  const auto count = static_cast<double>(points.size());
  const double slope = theil_sen_slope(points);
  const std::vector<double> residuals = clipped_residuals(points, slope, resolution_s);
  double sum_of_squares = 0;
  for (const double residual : residuals) sum_of_squares += residual * residual;
  // Times that lie on a line to the last digit are known to their resolution.
  sum_of_squares = std::max(sum_of_squares, count * resolution_s * resolution_s);
  if (!(sum_of_squares > 0)) return std::nullopt;
  const double correlation = correlation_of(residuals, sum_of_squares);
  const double inflation = (1 + correlation) / (1 - correlation);

  double mean_x = 0;
  double spread = 0;
  std::vector<double> times_s;
  for (const LinePoint& point : points) {
    mean_x += point.x / count;
    times_s.push_back(point.y);
  }
  for (const LinePoint& point : points) spread += (point.x - mean_x) * (point.x - mean_x);
  const double error =
      kTheilSenFactor * std::sqrt(sum_of_squares / (count - 2) * inflation / spread);
  const double degrees_of_freedom = std::max(1.0, count / inflation - 2);

  StepDrift drift;
  drift.first_iteration = steps.front().iteration;
  drift.last_iteration = steps.back().iteration;
  const auto length = static_cast<double>(drift.last_iteration - drift.first_iteration);
  drift.relative_change = slope * length / median_of(times_s);
  drift.p_value = student_t_two_sided_p(slope / error, degrees_of_freedom);
  return drift;
}

std::optional<StepDrift> find_drift(std::span<const DriftStep> steps, double resolution_s) {
  const auto drift = test_drift(steps, resolution_s);
  if (!drift || drift->p_value > kDriftPValueMax) return std::nullopt;
  if (std::abs(drift->relative_change) < kDriftShareMin) return std::nullopt;
  return drift;
}

}  // namespace llmb::parser
