// MeanEstimate: what repeated runs say of a mean. One value is the mean of one run: iterations of
// one run share its nodes, its placement and its network neighbours, and would make an interval
// that is too narrow. Whether two sets of runs differ is for moderated_test.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

// p-values of one family of tests, each raised so that the chance of any false alarm stays that of
// one test (Holm 1979). What has no p-value keeps none.
std::vector<std::optional<double>> holm_adjusted(std::span<const std::optional<double>> p_values);

}  // namespace llmb::parser
