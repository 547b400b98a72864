#include "parser/statistics/change_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "parser/statistics/best_levels.h"
#include "parser/statistics/distance_sum.h"
#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

// What lies about levels that were found, and how much of it they have taken.
class Residuals {
 public:
  Residuals(std::span<const double> values, const Levels& levels)
      : values_(distances_from(values, levels)),
        level_share_(static_cast<double>(levels.begins.size() + 1) /
                     static_cast<double>(values.size())) {
    bound_odd();
  }

  const std::vector<double>& values() const { return values_; }

  // Of what they would be about levels that are known: each that is found takes one of as many.
  double share_left() const { return 1 - level_share_; }

  double mean_size() const {
    double sum = 0;
    for (const double value : values_) sum += std::abs(value);
    return sum / (static_cast<double>(values_.size()) * share_left());
  }

  // How much a value takes over from the one before: the correlation of neighbours, with what the
  // levels have taken from it. Levels that are not found yet would be taken for dependence.
  double dependence() const {
    double products = 0;
    double squares = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      squares += values_[i] * values_[i];
      if (i > 0) products += values_[i] * values_[i - 1];
    }
    if (squares <= 0) return 0;
    // About the mean of n values that take over phi the correlation is (1 + 3 phi) / n too low
    // (Kendall 1954); here where phi is 0.5.
    constexpr double kTaken = 2.5;
    // Beyond, a series has no levels that could change.
    constexpr double kMost = 0.9;
    return std::clamp(products / squares + kTaken * level_share_, 0.0, kMost);
  }

 private:
  // An odd value counts as if it were a few deviations away, where there are enough to tell it.
  void bound_odd() {
    constexpr std::size_t kValuesForOdd = 12;
    constexpr double kOddDeviations = 4;
    if (values_.size() < kValuesForOdd) return;
    std::vector<double> sizes;
    sizes.reserve(values_.size());
    for (const double value : values_) sizes.push_back(std::abs(value));
    // Of values of two kinds half lie on the median of their level: nothing is their median.
    const double usual = std::max(median_of(sizes), mean_size() / 2);
    const double most = kOddDeviations * kDeviationsPerMad * usual;
    for (double& value : values_) value = std::clamp(value, -most, most);
  }

  std::vector<double> values_;
  double level_share_;
};

// What a change has to gain at least, in the noise that these residuals show. Of few values only
// this decides, for they have too few orders to learn it from. Made series without a change
// (normal, Laplace's, Student's with 3 degrees of freedom) gain as much in one of a hundred at
// most, and where each value takes over half of the one before in one of twenty; of 6 to 200
// values. What is gained is of the same values as the noise, about as many levels: overfitting is
// in the figure.
double least_gain(const Residuals& residuals, const SegmentationOptions& options) {
  constexpr double kMeanSizeOfNormal = 0.8;  // of values whose deviation is 1
  const double noise = std::max(residuals.mean_size(), kMeanSizeOfNormal * options.deviation_min);
  const double count = static_cast<double>(residuals.values().size());
  // Values that are all equal gain nothing, and still have no changes.
  constexpr double kLeast = 1e-9;
  return std::max(kLeast, (9.5 + 1.2 * std::log(count)) * noise);
}

// Series without changes whose values take over `dependence` of the ones before and have the
// innovations of these residuals, each time in another order.
class RandomSeries {
 public:
  RandomSeries(std::vector<double> residuals, double dependence, std::uint64_t seed)
      : dependence_(dependence), random_(seed) {
    for (std::size_t i = residuals.size(); i-- > 1;) {
      residuals[i] -= dependence * residuals[i - 1];
    }
    residuals[0] *= std::sqrt(1 - dependence * dependence);
    place_values(residuals, innovations_);
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

// What such series gain by a split, in one of so many of them.
double gain_by_chance(const Residuals& residuals, const SegmentationOptions& options) {
  RandomSeries series(residuals.values(), residuals.dependence(), options.seed);
  std::vector<double> gains;
  for (std::int64_t i = 0; i < options.permutations; ++i) {
    gains.push_back(best_gain(series.next(), options.piece_min));
  }
  const auto beyond = static_cast<std::ptrdiff_t>(
      std::floor(options.false_alarm_rate * static_cast<double>(options.permutations)));
  const auto place = gains.begin() + beyond;
  std::nth_element(gains.begin(), place, gains.end(), std::greater<>());
  // Two splits at once, around a few odd values, may gain more than twice what one does.
  constexpr double kOfTwo = 1.2;
  return kOfTwo * *place / residuals.share_left();
}

// How many changes gain most beside what each of them has to gain at least, in the noise that they
// leave; none where no number of them gains it. Of many changes one alone may gain little.
std::size_t most_telling(std::span<const double> values, const std::vector<Levels>& all,
                         const SegmentationOptions& options) {
  double most = 1;
  std::size_t told = 0;
  for (std::size_t changes = 1; changes < all.size(); ++changes) {
    const double gain = (all[0].loss - all[changes].loss) / static_cast<double>(changes);
    const double ratio = gain / least_gain(Residuals(values, all[changes]), options);
    if (ratio <= most) continue;
    most = ratio;
    told = changes;
  }
  return told;
}

// The number of changes that makes loss + penalty * changes least.
std::size_t cheapest(const std::vector<Levels>& all, double penalty) {
  const auto cost = [&](std::size_t changes) {
    return all[changes].loss + penalty * static_cast<double>(changes);
  };
  std::size_t best = 0;
  for (std::size_t changes = 1; changes < all.size(); ++changes) {
    if (cost(changes) < cost(best)) best = changes;
  }
  return best;
}

// Deviations, of 6 to 20 known values: with these the distance of both newest values from the
// median, over the known values' median distance, is beyond the limit once in kRunsPerFalseAlarm
// (700,000 normal values each). Of few values that median distance is often far too small.
constexpr std::array<double, kLevelValuesMax - kLevelValuesMin + 1> kAlarmDeviations = {
    6.27, 6.01, 4.41, 4.30, 3.60, 3.56, 3.15, 3.12, 2.89, 2.86, 2.72, 2.71, 2.58, 2.58, 2.45};

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values,
                                       const SegmentationOptions& options) {
  const std::size_t skipped = values.size() > kSegmentedMax ? values.size() - kSegmentedMax : 0;
  values = values.subspan(skipped);
  if (values.size() < std::max(kChangeValuesMin, 2 * options.piece_min)) return {};
  PlacedValues placed;
  place_values(values, placed);
  const std::vector<Levels> all = best_levels(placed, options.piece_min);
  std::size_t chosen = most_telling(values, all, options);
  // The penalty is that of the noise about the levels that were found, and finds others by it.
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds && chosen > 0; ++round) {
    const Residuals residuals(values, all[chosen]);
    const double penalty =
        std::max(least_gain(residuals, options), gain_by_chance(residuals, options));
    const std::size_t found = cheapest(all, penalty);
    if (found == chosen) break;
    chosen = found;
  }
  std::vector<std::size_t> changes = all[chosen].begins;
  for (std::size_t& change : changes) change += skipped;
  return changes;
}

NewestLevel newest_level(std::span<const double> values, std::size_t level_begin,
                         double deviation_min, double distance_min) {
  if (values.size() < level_begin + kLevelValuesMin + 2) return NewestLevel::unknown;
  std::span<const double> level = values.subspan(level_begin);
  const std::span<const double> newest = level.last(2);
  level = level.first(level.size() - 2);
  if (level.size() > kLevelValuesMax) level = level.last(kLevelValuesMax);
  const double middle = median_of(level);
  std::vector<double> distances;
  for (const double value : level) distances.push_back(std::abs(value - middle));
  const double deviation = std::max(kDeviationsPerMad * median_of(distances), deviation_min);
  const double limit =
      std::max(kAlarmDeviations[level.size() - kLevelValuesMin] * deviation, distance_min);
  const auto beyond = [&](double sign) {
    return std::all_of(newest.begin(), newest.end(),
                       [&](double value) { return sign * (value - middle) > limit; });
  };
  if (beyond(1)) return NewestLevel::higher;
  return beyond(-1) ? NewestLevel::lower : NewestLevel::steady;
}

}  // namespace llmb::parser
