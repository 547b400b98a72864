#include "parser/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <random>

#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

// Sum of distances from the median of a growing set.
class DistanceSum {
 public:
  double add(double value) {
    if (low_.empty() || value <= low_.top()) {
      low_.push(value);
      low_sum_ += value;
    } else {
      high_.push(value);
      high_sum_ += value;
    }
    if (low_.size() > high_.size() + 1) move(low_, low_sum_, high_, high_sum_);
    if (high_.size() > low_.size()) move(high_, high_sum_, low_, low_sum_);
    const double spare = low_.size() > high_.size() ? low_.top() : 0;
    return high_sum_ - (low_sum_ - spare);
  }

 private:
  template <typename From, typename To>
  static void move(From& from, double& from_sum, To& to, double& to_sum) {
    from_sum -= from.top();
    to_sum += from.top();
    to.push(from.top());
    from.pop();
  }

  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
  double low_sum_ = 0;
  double high_sum_ = 0;
};

// By how much the best single split lowers the loss.
double best_gain(std::span<const double> values, std::size_t piece_min) {
  std::vector<double> before(values.size());
  DistanceSum forward;
  for (std::size_t i = 0; i < values.size(); ++i) before[i] = forward.add(values[i]);
  DistanceSum backward;
  double best = 0;
  for (std::size_t i = values.size(); i-- > piece_min;) {
    const double after = backward.add(values[i]);
    if (values.size() - i < piece_min) continue;
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
std::vector<std::size_t> partition(std::span<const double> values, double penalty,
                                   std::size_t piece_min) {
  const std::size_t count = values.size();
  // losses of pieces that end before `end`, by their begin, are found backwards from it.
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(count + 1, 0);
  best[0] = -penalty;
  for (std::size_t end = piece_min; end <= count; ++end) {
    DistanceSum loss;
    for (std::size_t begin = end; begin-- > 0;) {
      const double own = loss.add(values[begin]);
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

// The series without changes whose values take over `dependence` of the ones before and have this
// much that is new.
void make_series(std::span<const double> innovations, double dependence,
                 std::vector<double>& series) {
  series.assign(innovations.begin(), innovations.end());
  if (dependence == 0) return;
  series[0] /= std::sqrt(1 - dependence * dependence);
  for (std::size_t i = 1; i < series.size(); ++i) series[i] += dependence * series[i - 1];
}

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
std::optional<double> penalty_of(std::vector<double> innovations, double dependence,
                                 const SegmentationOptions& options,
                                 const std::function<bool(double)>& is_enough) {
  constexpr std::size_t kFirstAsked = 16;
  std::size_t asked_at = kFirstAsked;
  std::mt19937_64 random(options.seed);
  std::vector<double> gains;
  std::vector<double> series;
  for (std::int64_t i = 0; i < options.permutations; ++i) {
    std::shuffle(innovations.begin(), innovations.end(), random);
    make_series(innovations, dependence, series);
    gains.push_back(best_gain(series, options.piece_min));
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
  const double gain = best_gain(values, options.piece_min);
  // With a higher penalty there are no changes either.
  const auto finds_nothing = [&](double penalty) {
    return gain <= penalty && partition(values, penalty, options.piece_min).empty();
  };
  auto penalty =
      penalty_of(innovations_of_neighbours(values, dependence), dependence, options, finds_nothing);
  if (!penalty) return {};
  std::vector<std::size_t> changes = partition(values, *penalty, options.piece_min);
  // And then about the levels that were found.
  for (int round = 0; round < kRounds && !changes.empty(); ++round) {
    const auto of_levels = penalty_of(innovations_of_levels(values, changes, dependence),
                                      dependence, options, finds_nothing);
    if (!of_levels) return {};
    penalty = std::max(*penalty, *of_levels);
    std::vector<std::size_t> found = partition(values, *penalty, options.piece_min);
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
