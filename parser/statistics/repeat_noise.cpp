#include "parser/statistics/repeat_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "parser/statistics/change_points.h"
#include "parser/statistics/level_drift.h"
#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kRunsForOdd = 12;  // fewer do not tell which of them is odd

// Levels as they would be if the newest one did not drift.
struct StillLevels {
  std::vector<double> values;
  std::vector<std::size_t> begins;  // of each, the first one's too
  double slopes = 0;                // that were taken from them
};

StillLevels still_levels(std::span<const LinePoint> points) {
  StillLevels still;
  for (const LinePoint& point : points) still.values.push_back(point.y);
  still.begins = change_points(still.values, {.deviation_min = kRunStddevMin});
  if (const auto drift = level_drift(points, still.begins, kRunStddevMin)) {
    std::erase_if(still.begins, [&](std::size_t begin) { return begin > drift->level; });
    for (std::size_t i = drift->level; i < points.size(); ++i) {
      still.values[i] -= drift->at(points[i].x);
    }
    still.slopes = 1;
  }
  still.begins.insert(still.begins.begin(), 0);
  return still;
}

// Of a level from its median.
std::vector<double> distances_of(std::span<const double> level) {
  const double median = median_of(level);
  std::vector<double> distances;
  for (const double value : level) distances.push_back(value - median);
  return distances;
}

// No distance is more than an odd run's.
void bound(std::vector<double>& distances) {
  if (distances.size() < kRunsForOdd) return;
  std::vector<double> sizes;
  sizes.reserve(distances.size());
  for (const double distance : distances) sizes.push_back(std::abs(distance));
  const double most =
      kOddDeviations * std::max(kRunStddevMin, kDeviationsPerMad * median_of(sizes));
  for (double& distance : distances) distance = std::clamp(distance, -most, most);
}

double squares_about_mean(std::span<const double> values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return std::max(0.0, squares - sum * sum / static_cast<double>(values.size()));
}

}  // namespace

RepeatNoise noise_of_repeats(std::span<const double> log_locations,
                             std::span<const double> places) {
  RepeatNoise noise;
  const std::size_t count = std::min(kRepeatsMax, log_locations.size());
  std::vector<LinePoint> points;
  for (std::size_t i = log_locations.size() - count; i < log_locations.size(); ++i) {
    points.push_back({places.empty() ? static_cast<double>(i) : places[i], log_locations[i]});
  }
  noise.run_count = static_cast<std::int64_t>(count);
  if (count < 2) return noise;
  const StillLevels levels = still_levels(points);
  const std::span<const double> newest(levels.values);
  std::vector<std::size_t> begins = levels.begins;
  std::vector<double> distances;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : count;
    const auto of_level = distances_of(newest.subspan(begins[i], end - begins[i]));
    distances.insert(distances.end(), of_level.begin(), of_level.end());
  }
  bound(distances);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : count;
    noise.squares += squares_about_mean(std::span(distances).subspan(begins[i], end - begins[i]));
  }
  noise.degrees_of_freedom = static_cast<double>(count - begins.size()) - levels.slopes;
  noise.squares = std::max(noise.squares, noise.degrees_of_freedom * kRunStddevMin * kRunStddevMin);
  return noise;
}

RunNoise with_repeats(RunNoise prior, std::span<const RepeatNoise> repeats) {
  for (const RepeatNoise& each : repeats) {
    if (each.degrees_of_freedom <= 0) continue;
    prior.repeat_squares += kRepeatWeight * each.squares;
    prior.repeat_degrees_of_freedom += kRepeatWeight * each.degrees_of_freedom;
    prior.repeat_count += each.run_count;
  }
  if (prior.repeat_count == 0) return prior;
  prior.source = fmt::format("{} repeats and of {}", prior.repeat_count, prior.source);
  return prior;
}

}  // namespace llmb::parser
