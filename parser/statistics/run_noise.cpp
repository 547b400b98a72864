#include "parser/statistics/run_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace llmb::parser {
namespace {

// Tried first, and then between the neighbours of the best. With 128 all configurations deviate
// alike.
constexpr std::array kDegrees = {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0};
constexpr std::array kDegreesBetween = {0.59, 0.71, 0.84, 1.19, 1.41, 1.68};

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);  // not lgamma, which leaves the sign in a global that threads share
}

std::int64_t degrees_of(std::span<const NoiseGroup> groups) {
  std::int64_t sum = 0;
  for (const NoiseGroup& group : groups) sum += group.run_count - 1;
  return sum;
}

struct LogGroup {
  double degrees = 0;
  double log_stddev = 0;
};

std::vector<LogGroup> in_logarithms(std::span<const NoiseGroup> groups) {
  std::vector<LogGroup> logs;
  for (const NoiseGroup& group : groups) {
    logs.push_back({static_cast<double>(group.run_count - 1),
                    std::log(std::max(group.stddev, kRunStddevMin))});
  }
  return logs;
}

// ln of the density of the groups' variances, but for what no parameter changes: each over s0^2 is
// F-distributed (d, d0).
double log_likelihood(std::span<const LogGroup> groups, double log_stddev, double d0) {
  const double log_gamma_d0 = log_gamma(d0 / 2);
  double sum = 0;
  for (const LogGroup& group : groups) {
    const double d = group.degrees;
    const double log_x = 2 * (group.log_stddev - log_stddev);
    sum += log_gamma((d + d0) / 2) - log_gamma_d0 + d / 2 * (log_x - std::log(d0)) -
           (d + d0) / 2 * std::log1p(d * std::exp(log_x) / d0);
  }
  return sum;
}

// For given degrees of freedom the likelihood has one maximum in the deviation: golden section
// between the smallest and the largest deviation seen.
std::pair<double, double> best_stddev(std::span<const LogGroup> groups, double d0, double low,
                                      double high) {
  constexpr double kGolden = 0.6180339887498949;
  double inner_low = high - kGolden * (high - low);
  double inner_high = low + kGolden * (high - low);
  double at_low = log_likelihood(groups, inner_low, d0);
  double at_high = log_likelihood(groups, inner_high, d0);
  while (high - low > 1e-3) {
    if (at_low > at_high) {
      high = std::exchange(inner_high, inner_low);
      at_high = at_low;
      inner_low = high - kGolden * (high - low);
      at_low = log_likelihood(groups, inner_low, d0);
    } else {
      low = std::exchange(inner_low, inner_high);
      at_low = at_high;
      inner_high = low + kGolden * (high - low);
      at_high = log_likelihood(groups, inner_high, d0);
    }
  }
  return {(low + high) / 2, std::max(at_low, at_high)};
}

}  // namespace

RunNoise public_run_noise() {
  return {kPublicNoiseStddev, kPublicNoiseDegrees, 0, 0, "public runs"};
}

KnownVariance known_variance(const RunNoise& noise, double squares, double degrees) {
  const double own_squares = noise.repeat_squares + squares;
  const double own_degrees = noise.repeat_degrees_of_freedom + degrees;
  const double prior_variance = noise.stddev * noise.stddev;
  double prior_degrees = noise.degrees_of_freedom;
  if (noise.is_public()) prior_degrees /= 1 + degrees;
  if (own_squares > own_degrees * prior_variance) {
    prior_degrees *= prior_variance * own_degrees / own_squares;
  }
  KnownVariance known;
  known.degrees_of_freedom = prior_degrees + own_degrees;
  known.stddev =
      std::sqrt((prior_degrees * prior_variance + own_squares) / known.degrees_of_freedom);
  return known;
}

bool suffices_for_noise(std::span<const NoiseGroup> groups) {
  return groups.size() >= kNoiseGroupsMin && degrees_of(groups) >= kNoiseDegreesMin;
}

RunNoise learn_run_noise(std::span<const NoiseGroup> groups, std::string source) {
  const std::vector<LogGroup> logs = in_logarithms(groups);
  const auto spread = std::minmax_element(
      logs.begin(), logs.end(),
      [](const LogGroup& a, const LogGroup& b) { return a.log_stddev < b.log_stddev; });
  RunNoise noise;
  for (const NoiseGroup& group : groups) noise.run_count += group.run_count;
  std::optional<double> best;
  const auto try_degrees = [&](double d0) {
    // With few degrees of freedom the prior's scale lies below the deviations seen.
    const auto [log_stddev, likelihood] =
        best_stddev(logs, d0, spread.first->log_stddev - 2, spread.second->log_stddev + 0.5);
    if (best && likelihood <= *best) return;
    best = likelihood;
    noise.stddev = std::exp(log_stddev);
    noise.degrees_of_freedom = d0;
  };
  for (const double d0 : kDegrees) try_degrees(d0);
  const double coarse = noise.degrees_of_freedom;
  for (const double factor : kDegreesBetween) try_degrees(coarse * factor);
  noise.degrees_of_freedom =
      std::min(noise.degrees_of_freedom, static_cast<double>(degrees_of(groups)));
  noise.group_count = static_cast<std::int64_t>(groups.size());
  noise.source = std::move(source);
  return noise;
}

}  // namespace llmb::parser
