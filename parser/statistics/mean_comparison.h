// MeanComparison: what repeated runs say of a mean, and whether two sets of runs differ. One value
// is the mean of one run: iterations of one run share its nodes, its placement and its network
// neighbours, so a test on iterations finds differences between identical configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

inline constexpr double kConfidence = 0.95;

struct MeanEstimate {
  std::int64_t run_count = 0;
  double mean = 0;
  // Nothing for one run, which shows no run-to-run deviation.
  std::optional<double> stddev_sample;
  std::optional<double> low;  // mean -+ t(confidence, n - 1) * stddev_sample / sqrt(n)
  std::optional<double> high;

  bool operator==(const MeanEstimate&) const = default;
};

// Nothing for no runs.
std::optional<MeanEstimate> estimate_mean(std::span<const double> run_means,
                                          double confidence = kConfidence);

enum class MeanTestMethod {
  none,  // no test can be made: see the reason
  // Welch's t test on run means; degrees of freedom by Welch and Satterthwaite.
  welch,
  // One run against several: t = difference / (s * sqrt(1 + 1/n)), n - 1 degrees of freedom. Takes
  // for granted that the single run's configuration varies from run to run as the other does.
  single_run,
};
std::string_view mean_test_method_name(MeanTestMethod method);

struct MeanTest {
  MeanTestMethod method = MeanTestMethod::none;
  std::string reason;              // why there is no test; empty where there is one
  double difference = 0;           // mean of the other, less that of the baseline
  double relative_difference = 0;  // of the baseline's mean
  std::optional<double> t;
  std::optional<double> degrees_of_freedom;
  std::optional<double> p_value;  // two-sided
  std::optional<double> low;      // the interval of `difference` at the confidence asked for
  std::optional<double> high;

  bool operator==(const MeanTest&) const = default;
};

// Neither may be empty.
MeanTest test_means(std::span<const double> baseline, std::span<const double> other,
                    double confidence = kConfidence);

// p-values of one family of tests, each raised so that the chance of any false alarm stays that of
// one test (Holm 1979). What has no p-value keeps none.
std::vector<std::optional<double>> holm_adjusted(std::span<const std::optional<double>> p_values);

}  // namespace llmb::parser
