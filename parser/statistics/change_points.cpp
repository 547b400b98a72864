#include "parser/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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
  return std::clamp(1 + 2 * products / squares, 0.0, 0.8);
}

// What the values are like about levels that are not known yet: differences of neighbours, which
// levels touch in a few places only, made as large as the values are.
std::vector<double> residuals_of_neighbours(std::span<const double> values, double dependence) {
  std::vector<double> residuals;
  const double scale = 1 / std::sqrt(2 * (1 - dependence));
  for (std::size_t i = 1; i < values.size(); ++i) {
    residuals.push_back((values[i] - values[i - 1]) * scale);
  }
  residuals.push_back(0);
  return residuals;
}

// What the values gain by a split in random order, in one of so many series.
double penalty_of(std::vector<double> residuals, double dependence,
                  const SegmentationOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<double> gains;
  for (std::int64_t i = 0; i < options.permutations; ++i) {
    std::shuffle(residuals.begin(), residuals.end(), random);
    gains.push_back(best_gain(residuals, options.piece_min));
  }
  std::sort(gains.begin(), gains.end());
  const auto rank = static_cast<std::size_t>(
      std::ceil((1 - options.false_alarm_rate) * static_cast<double>(gains.size())));
  const double gain = gains[std::min(rank, gains.size()) - 1];
  // Values that are all equal gain nothing, and still have no changes.
  constexpr double kPenaltyMin = 1e-9;
  // Two splits at once, around a few odd values, may gain more than twice what one does.
  constexpr double kOfTwo = 1.2;
  // What normal values of the standard deviation 1 have as `gain` where there are 8 to 40 of them.
  constexpr double kGainOfNormal = 5.5;
  const double gain_min = kGainOfNormal * options.deviation_min;
  return std::max(kPenaltyMin,
                  kOfTwo * std::max(gain, gain_min) * (1 + dependence) / (1 - dependence));
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
  double penalty = penalty_of(residuals_of_neighbours(values, dependence), dependence, options);
  std::vector<std::size_t> changes = partition(values, penalty, options.piece_min);
  // And then about the levels that were found.
  for (int round = 0; round < kRounds && !changes.empty(); ++round) {
    penalty = std::max(penalty, penalty_of(residuals_of(values, changes), dependence, options));
    std::vector<std::size_t> found = partition(values, penalty, options.piece_min);
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
