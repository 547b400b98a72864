#include "parser/statistics/window_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace llmb::parser {
namespace {

// The value at `fraction` of the way through the sorted values, linear between the two nearest
// ranks: rank = fraction * (n - 1), counted from 0.
double quantile(std::span<const double> sorted, double fraction) {
  const double rank = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double weight = rank - static_cast<double>(below);
  if (weight == 0) return sorted[below];
  return std::lerp(sorted[below], sorted[below + 1], weight);
}

}  // namespace

std::optional<WindowStatistics> compute_window_statistics(std::span<const double> values) {
  if (values.empty()) return std::nullopt;

  // Two passes, the second corrected by the first one's rounding error (Chan, Golub, LeVeque
  // 1983): exact to the last digits even where the mean is many times the deviation. Offsets from
  // the first value keep equal values exactly equal to their mean.
  const auto n = static_cast<double>(values.size());
  const double origin = values.front();
  double offset_sum = 0;
  for (const double value : values) offset_sum += value - origin;
  const double mean = origin + offset_sum / n;

  double square_sum = 0;
  double residual_sum = 0;
  for (const double value : values) {
    const double residual = value - mean;
    square_sum += residual * residual;
    residual_sum += residual;
  }
  square_sum = std::max(0.0, square_sum - residual_sum * residual_sum / n);

  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());

  WindowStatistics statistics;
  statistics.count = static_cast<std::int64_t>(values.size());
  statistics.mean = mean;
  statistics.stddev_population = std::sqrt(square_sum / n);
  statistics.stddev_sample = values.size() > 1 ? std::sqrt(square_sum / (n - 1)) : 0;
  statistics.median = quantile(sorted, 0.5);
  statistics.min = sorted.front();
  statistics.max = sorted.back();
  statistics.p95 = quantile(sorted, 0.95);
  return statistics;
}

}  // namespace llmb::parser
