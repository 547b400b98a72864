#include "parser/statistics/mean_comparison.h"

#include <algorithm>
#include <cmath>

#include "parser/statistics/student_t.h"
#include "parser/statistics/window_statistics.h"

namespace llmb::parser {

std::optional<MeanEstimate> estimate_mean(std::span<const double> run_means, double confidence) {
  const auto statistics = compute_window_statistics(run_means);
  if (!statistics) return std::nullopt;
  MeanEstimate estimate;
  estimate.run_count = statistics->count;
  estimate.mean = statistics->mean;
  if (statistics->count < 2) return estimate;
  const auto n = static_cast<double>(statistics->count);
  const double half =
      student_t_quantile(confidence, n - 1) * statistics->stddev_sample / std::sqrt(n);
  estimate.stddev_sample = statistics->stddev_sample;
  estimate.low = statistics->mean - half;
  estimate.high = statistics->mean + half;
  return estimate;
}

std::vector<std::optional<double>> holm_adjusted(std::span<const std::optional<double>> p_values) {
  std::vector<std::optional<double>> adjusted(p_values.begin(), p_values.end());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    if (p_values[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return *p_values[a] < *p_values[b]; });
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, left * *p_values[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace llmb::parser
