#include "parser/statistics/mean_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parser/foundation/name_table.h"
#include "parser/statistics/student_t.h"
#include "parser/statistics/window_statistics.h"

namespace llmb::parser {
namespace {

// The step time of a run is known to about 1e-4 of itself; what deviates less than this is equal
// but for the arithmetic.
constexpr double kNoDeviation = 1e-12;

struct Summary {
  double count = 0;
  double mean = 0;
  double variance = 0;  // of the sample
};

Summary summarise(std::span<const double> values) {
  const auto statistics = compute_window_statistics(values);
  Summary summary;
  summary.count = static_cast<double>(statistics->count);
  summary.mean = statistics->mean;
  summary.variance = statistics->stddev_sample * statistics->stddev_sample;
  return summary;
}

std::string runs_text(double count) {
  return count == 1 ? "one run" : std::to_string(static_cast<std::int64_t>(count)) + " runs";
}

constexpr auto kMethods = name_table<MeanTestMethod>({
    {MeanTestMethod::none, "none"},
    {MeanTestMethod::welch, "welch"},
    {MeanTestMethod::single_run, "single_run"},
});

}  // namespace

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

std::string_view mean_test_method_name(MeanTestMethod method) {
  return kMethods.name(method);
}

MeanTest test_means(std::span<const double> baseline, std::span<const double> other,
                    double confidence) {
  const Summary a = summarise(baseline);
  const Summary b = summarise(other);
  MeanTest test;
  test.difference = b.mean - a.mean;
  test.relative_difference = test.difference / a.mean;
  if (a.count < 2 && b.count < 2) {
    test.reason = "one run against one run: the difference cannot be told from run-to-run noise";
    return test;
  }
  double error = 0;
  double degrees = 0;
  if (a.count < 2 || b.count < 2) {
    const Summary& several = a.count < 2 ? b : a;
    error = std::sqrt(several.variance * (1 + 1 / several.count));
    degrees = several.count - 1;
    test.method = MeanTestMethod::single_run;
  } else {
    const double share_a = a.variance / a.count;
    const double share_b = b.variance / b.count;
    error = std::sqrt(share_a + share_b);
    degrees = (share_a + share_b) * (share_a + share_b) /
              (share_a * share_a / (a.count - 1) + share_b * share_b / (b.count - 1));
    test.method = MeanTestMethod::welch;
  }
  if (!(error > kNoDeviation * std::abs(a.mean))) {
    test.method = MeanTestMethod::none;
    test.reason = "the means of " + runs_text(a.count) + " and " + runs_text(b.count) +
                  " show no run-to-run deviation to test a difference against";
    return test;
  }
  const double half = student_t_quantile(confidence, degrees) * error;
  test.t = test.difference / error;
  test.degrees_of_freedom = degrees;
  test.p_value = student_t_two_sided_p(*test.t, degrees);
  test.low = test.difference - half;
  test.high = test.difference + half;
  return test;
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
