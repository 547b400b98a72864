#include "parser/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "parser/statistics/distance_sum.h"
#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

// By how much the best single split lowers the loss.
double best_gain(const PlacedValues& values, std::size_t piece_min) {
  const std::size_t count = values.places.size();
  DistanceSum sum(values.sorted);
  std::vector<double> before;
  before.reserve(count);
  for (const std::uint32_t place : values.places) before.push_back(sum.add(place));
  sum.clear();
  double best = 0;
  for (std::size_t i = count; i-- > piece_min;) {
    const double after = sum.add(values.places[i]);
    if (count - i < piece_min) continue;
    best = std::max(best, before.back() - before[i - 1] - after);
  }
  return best;
}

std::vector<double> residuals_of(std::span<const double> values,
                                 const std::vector<std::size_t>& changes) {
  std::vector<double> residuals(values.begin(), values.end());
  std::size_t begin = 0;
  for (std::size_t k = 0; k <= changes.size(); ++k) {
    const std::size_t end = k < changes.size() ? changes[k] : values.size();
    const double level = median_of(values.subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) residuals[i] -= level;
    begin = end;
  }
  return residuals;
}

// Optimal partitioning: the changes that make loss + penalty * changes least.
std::vector<std::size_t> partition(const PlacedValues& values, double penalty,
                                   std::size_t piece_min) {
  const std::size_t count = values.places.size();
  // losses of pieces that end before `end`, by their begin, are found backwards from it.
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(count + 1, 0);
  best[0] = -penalty;
  DistanceSum loss(values.sorted);
  for (std::size_t end = piece_min; end <= count; ++end) {
    loss.clear();
    for (std::size_t begin = end; begin-- > 0;) {
      const double own = loss.add(values.places[begin]);
      if (end - begin < piece_min) continue;
      const double whole = best[begin] + own + penalty;
      if (whole < best[end]) {
        best[end] = whole;
        from[end] = begin;
      }
    }
  }
  std::vector<std::size_t> changes;
  for (std::size_t end = from[count]; end > 0; end = from[end]) changes.push_back(end);
  std::reverse(changes.begin(), changes.end());
  return changes;
}

// How much a value takes over from the one before, from the correlation of neighbouring differences
// ((phi - 1) / 2 where it is phi), which a change of level touches in one place only.
double dependence_of(std::span<const double> values) {
  std::vector<double> differences;
  differences.reserve(values.size());
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(values[i] - values[i - 1]);
  std::vector<double> sizes;
  sizes.reserve(differences.size());
  for (const double difference : differences) sizes.push_back(std::abs(difference));
  constexpr double kClip = 4;  // times the median
  const double limit = kClip * median_of(sizes);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] = std::clamp(differences[i], -limit, limit);
    squares += differences[i] * differences[i];
    if (i > 0) products += differences[i] * differences[i - 1];
  }
  if (squares <= 0) return 0;
  // Beyond, a series has no levels that could change.
  constexpr double kMost = 0.9;
  return std::clamp(1 + 2 * products / squares, 0.0, kMost);
}

// What is new in each value, where it takes over `dependence` of the one before, about levels that
// are not known yet: differences of neighbours, which levels touch in a few places only, made as
// large as what is new.
std::vector<double> innovations_of_neighbours(std::span<const double> values, double dependence) {
  std::vector<double> innovations;
  innovations.reserve(values.size());
  const double scale = std::sqrt((1 + dependence) / 2);
  for (std::size_t i = 1; i < values.size(); ++i) {
    innovations.push_back((values[i] - values[i - 1]) * scale);
  }
  innovations.push_back(0);
  return innovations;
}

// The same about levels that were found.
std::vector<double> innovations_of_levels(std::span<const double> values,
                                          const std::vector<std::size_t>& changes,
                                          double dependence) {
  std::vector<double> innovations = residuals_of(values, changes);
  for (std::size_t i = innovations.size(); i-- > 1;) {
    innovations[i] -= dependence * innovations[i - 1];
  }
  innovations[0] *= std::sqrt(1 - dependence * dependence);
  return innovations;
}

// Series without changes whose values take over `dependence` of the ones before and have these
// innovations, each time in another order.
class RandomSeries {
 public:
  RandomSeries(std::span<const double> innovations, double dependence, std::uint64_t seed)
      : dependence_(dependence), random_(seed) {
    place_values(innovations, innovations_);
  }

  const PlacedValues& next() {
    std::shuffle(innovations_.places.begin(), innovations_.places.end(), random_);
    if (dependence_ == 0) return innovations_;
    values_.clear();
    for (const std::uint32_t place : innovations_.places) {
      const double innovation = innovations_.sorted[place];
      values_.push_back(values_.empty() ? innovation / std::sqrt(1 - dependence_ * dependence_)
                                        : innovation + dependence_ * values_.back());
    }
    place_values(values_, series_);
    return series_;
  }

 private:
  const double dependence_;
  std::mt19937_64 random_;
  PlacedValues innovations_;
  std::vector<double> values_;
  PlacedValues series_;
};

// What the values gain by a split in random order, in one of so many series: from the gains of
// random orders, all of them or those that are known so far, which give no more than all do.
double penalty_of_gains(std::vector<double> gains, const SegmentationOptions& options) {
  const auto beyond = static_cast<std::size_t>(
      std::floor(options.false_alarm_rate * static_cast<double>(options.permutations)));
  double gain = 0;
  if (gains.size() > beyond) {
    const auto place = gains.begin() + static_cast<std::ptrdiff_t>(beyond);
    std::nth_element(gains.begin(), place, gains.end(), std::greater<>());
    gain = *place;
  }
  // Values that are all equal gain nothing, and still have no changes.
  constexpr double kPenaltyMin = 1e-9;
  // Two splits at once, around a few odd values, may gain more than twice what one does.
  constexpr double kOfTwo = 1.2;
  // What normal values of the standard deviation 1 have as `gain` where there are 8 to 40 of them.
  constexpr double kGainOfNormal = 5.5;
  const double gain_min = kGainOfNormal * options.deviation_min;
  return std::max(kPenaltyMin, kOfTwo * std::max(gain, gain_min));
}

// Nothing where `is_enough` says of what is known so far that the penalty need not be known better
// than that it is this one or higher. It is asked a few times only.
std::optional<double> penalty_of(std::span<const double> innovations, double dependence,
                                 const SegmentationOptions& options,
                                 const std::function<bool(double)>& is_enough) {
  constexpr std::size_t kFirstAsked = 16;
  std::size_t asked_at = kFirstAsked;
  RandomSeries series(innovations, dependence, options.seed);
  std::vector<double> gains;
  for (std::int64_t i = 0; i < options.permutations; ++i) {
    gains.push_back(best_gain(series.next(), options.piece_min));
    if (gains.size() < asked_at) continue;
    asked_at *= 2;
    if (is_enough(penalty_of_gains(gains, options))) return std::nullopt;
  }
  return penalty_of_gains(std::move(gains), options);
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values,
                                       const SegmentationOptions& options) {
  constexpr int kRounds = 3;
  const std::size_t skipped = values.size() > kSegmentedMax ? values.size() - kSegmentedMax : 0;
  values = values.subspan(skipped);
  // Fewer have too few orders to tell one from chance.
  if (values.size() < 3 * options.piece_min) return {};
  const double dependence = dependence_of(values);
  PlacedValues placed;
  place_values(values, placed);
  const double gain = best_gain(placed, options.piece_min);
  // With a higher penalty there are no changes either.
  const auto finds_nothing = [&](double penalty) {
    return gain <= penalty && partition(placed, penalty, options.piece_min).empty();
  };
  auto penalty =
      penalty_of(innovations_of_neighbours(values, dependence), dependence, options, finds_nothing);
  if (!penalty) return {};
  std::vector<std::size_t> changes = partition(placed, *penalty, options.piece_min);
  // And then about the levels that were found.
  for (int round = 0; round < kRounds && !changes.empty(); ++round) {
    const auto of_levels = penalty_of(innovations_of_levels(values, changes, dependence),
                                      dependence, options, finds_nothing);
    if (!of_levels) return {};
    penalty = std::max(*penalty, *of_levels);
    std::vector<std::size_t> found = partition(placed, *penalty, options.piece_min);
    if (found == changes) break;
    changes = std::move(found);
  }
  for (std::size_t& change : changes) change += skipped;
  return changes;
}

NewestLevel newest_level(std::span<const double> values, std::size_t level_begin,
                         double deviation_min) {
  if (values.size() < level_begin + kLevelValuesMin + 2) return NewestLevel::unknown;
  std::span<const double> level = values.subspan(level_begin);
  const std::span<const double> newest = level.last(2);
  level = level.first(level.size() - 2);
  if (level.size() > kLevelValuesMax) level = level.last(kLevelValuesMax);
  const double middle = median_of(level);
  std::vector<double> distances;
  for (const double value : level) distances.push_back(std::abs(value - middle));
  // Of few values the median distance is often far too small.
  const double few = 1 + 2.5 / static_cast<double>(level.size());
  const double deviation = std::max(kDeviationsPerMad * median_of(distances), deviation_min);
  const double limit = kAlarmDeviations * few * deviation;
  const auto beyond = [&](double sign) {
    return std::all_of(newest.begin(), newest.end(),
                       [&](double value) { return sign * (value - middle) > limit; });
  };
  if (beyond(1)) return NewestLevel::higher;
  return beyond(-1) ? NewestLevel::lower : NewestLevel::steady;
}

}  // namespace llmb::parser
