#include "parser/statistics/level_drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parser/statistics/best_levels.h"
#include "parser/statistics/distance_sum.h"
#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

using Points = std::span<const LinePoint>;

bool rises_or_falls(Points points) {
  double score = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      if (points[j].y > points[i].y) ++score;
      if (points[j].y < points[i].y) --score;
    }
  }
  constexpr double kDependenceFactor = 3;  // (1 + 0.5) / (1 - 0.5)
  constexpr double kNormalQuantile = 1.96;
  const auto n = static_cast<double>(points.size());
  const double variance = kDependenceFactor * n * (n - 1) * (2 * n + 5) / 18;
  return std::abs(score) > kNormalQuantile * std::sqrt(variance);
}

// Flat outside of a part of the axis, by least squares.
struct Ramp {
  std::size_t begin = 0;
  std::size_t end = 0;
  double slope = 0;
  LinePoint middle;
  double squares = 0;  // of what it leaves
};

double value_at(const Ramp& ramp, Points points, double x) {
  const double within = std::clamp(x, points[ramp.begin].x, points[ramp.end].x);
  return ramp.middle.y + ramp.slope * (within - ramp.middle.x);
}

Ramp ramp_of(Points points, std::size_t begin, std::size_t end) {
  Ramp ramp;
  ramp.begin = begin;
  ramp.end = end;
  const auto count = static_cast<double>(points.size());
  const auto place = [&](double x) { return std::clamp(x, points[begin].x, points[end].x); };
  for (const LinePoint& point : points) {
    ramp.middle.x += place(point.x) / count;
    ramp.middle.y += point.y / count;
  }
  double products = 0;
  double spread = 0;
  for (const LinePoint& point : points) {
    const double x = place(point.x) - ramp.middle.x;
    products += x * (point.y - ramp.middle.y);
    spread += x * x;
  }
  ramp.slope = products / spread;
  for (const LinePoint& point : points) {
    const double left = point.y - value_at(ramp, points, point.x);
    ramp.squares += left * left;
  }
  return ramp;
}

// What moves has six values at least, as a level has of which the newest runs are told.
constexpr std::size_t kMovingMin = 6;
constexpr std::size_t kFlatBeforeMin = 3;
constexpr std::size_t kFlatAfterMin = 6;

// The straight line, or the one that turns once or twice where a turn takes away more than noise
// gives.
class BestRamp {
 public:
  BestRamp(Points points, double deviation_min)
      : points_(points),
        least_squares_(static_cast<double>(points.size()) * deviation_min * deviation_min),
        best_(ramp_of(points, 0, points.size() - 1)) {
    begin_later();
    turn_within(best_.begin + kMovingMin - 1, points_.size() - kFlatAfterMin,
                [&](std::size_t at) { return ramp_of(points_, best_.begin, at); });
    if (best_.end + 1 < points_.size()) begin_later();
  }

  const Ramp& get() const { return best_; }

 private:
  void begin_later() {
    turn_within(kFlatBeforeMin - 1, best_.end + 1 - kMovingMin,
                [&](std::size_t at) { return ramp_of(points_, at, best_.end); });
  }
  // `ramp_at`: with the turn at a place. No place: `first` is behind `last`.
  template <typename RampAt>
  void turn_within(std::size_t first, std::size_t last, const RampAt& ramp_at) {
    Ramp turned;
    turned.squares = std::numeric_limits<double>::infinity();
    for (std::size_t at = first; at <= last; ++at) {
      const Ramp ramp = ramp_at(at);
      if (ramp.squares < turned.squares) turned = ramp;
    }
    take_if_worth(turned);
  }
  // The place of a turn is chosen among all: by chance alone it takes away ten times what a value
  // leaves.
  void take_if_worth(const Ramp& turned) {
    constexpr double kTurnRatio = 16;
    constexpr double kFitted = 4;
    const double noise =
        std::max(turned.squares, least_squares_) / (static_cast<double>(points_.size()) - kFitted);
    if (best_.squares - turned.squares > kTurnRatio * noise) best_ = turned;
  }

  Points points_;
  double least_squares_;
  Ramp best_;
};

// With odd values drawn in.
std::vector<LinePoint> drawn_in(Points points, double deviation_min) {
  const double slope = theil_sen_slope(points);
  const std::vector<double> residuals = clipped_residuals(points, slope, deviation_min);
  std::vector<LinePoint> drawn;
  for (std::size_t i = 0; i < points.size(); ++i) {
    drawn.push_back({points[i].x, slope * points[i].x + residuals[i]});
  }
  return drawn;
}

double sum_of_sizes(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

// Of the levels that were found; of the two best ones where none change: a change that is too small
// to be told is no drift.
double loss_of_levels(Points points, std::span<const std::size_t> changes, std::size_t begin) {
  std::vector<double> values;
  for (const LinePoint& point : points) values.push_back(point.y);
  Levels levels;
  for (const std::size_t change : changes) levels.begins.push_back(change - begin);
  const double loss = sum_of_sizes(distances_from(values, levels));
  if (!changes.empty()) return loss;
  PlacedValues placed;
  place_values(values, placed);
  constexpr std::size_t kLevelMin = 2;
  return loss - best_gain(placed, kLevelMin);
}

// `changes`: those behind `begin`, where the level begins.
std::optional<LevelDrift> drift_from(Points all, std::size_t begin,
                                     std::span<const std::size_t> changes, double deviation_min) {
  const Points points = all.subspan(begin);
  if (!rises_or_falls(points)) return std::nullopt;
  const std::vector<LinePoint> drawn = drawn_in(points, deviation_min);
  const Ramp ramp = BestRamp(drawn, deviation_min).get();
  std::vector<double> off;
  for (const LinePoint& point : points) off.push_back(point.y - value_at(ramp, points, point.x));
  // The ramp is one of means.
  const double middle = median_of(off);
  for (double& value : off) value -= middle;
  // By so much at least: else one of ten small changes of level is taken for a drift.
  constexpr double kLossRatioMax = 0.9;
  if (sum_of_sizes(off) >= kLossRatioMax * loss_of_levels(points, changes, begin)) {
    return std::nullopt;
  }
  const double from = points[ramp.begin].x;
  const double to = points[ramp.end].x;
  LevelDrift drift;
  drift.level = begin;
  drift.begin = begin + ramp.begin;
  drift.end = begin + ramp.end;
  drift.from = {from, value_at(ramp, points, from) + middle};
  drift.to = {to, value_at(ramp, points, to) + middle};
  constexpr double kDeviationsMoved = 3;
  if (std::abs(drift.to.y - drift.from.y) <= kDeviationsMoved * deviation_min) return std::nullopt;
  return drift;
}

}  // namespace

double LevelDrift::at(double place) const {
  const double share = (std::clamp(place, from.x, to.x) - from.x) / (to.x - from.x);
  return from.y + share * (to.y - from.y);
}

std::optional<LevelDrift> level_drift(std::span<const LinePoint> points,
                                      std::span<const std::size_t> changes, double deviation_min) {
  const std::size_t first = points.size() > kDriftValuesMax ? points.size() - kDriftValuesMax : 0;
  // The longest first: a level that drifts is often taken for several.
  for (std::size_t k = 0; k <= changes.size(); ++k) {
    const std::size_t begin = std::max(first, k == 0 ? 0 : changes[k - 1]);
    if (k < changes.size() && changes[k] <= begin) continue;
    if (points.size() < begin + kDriftValuesMin) break;
    if (auto drift = drift_from(points, begin, changes.subspan(k), deviation_min)) {
      const bool is_cut = begin > (k == 0 ? 0 : changes[k - 1]);
      drift->may_begin_earlier = is_cut && drift->begin == begin;
      return drift;
    }
  }
  return std::nullopt;
}

}  // namespace llmb::parser
