#include "parser/statistics/distance_sum.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

// The slow oracle.
double distances_from_median(std::span<const double> values) {
  const double median = median_of(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - median);
  return sum;
}

// By how much the sums differ from those of the oracle at most, added from the first on and then,
// after clear(), from the last on.
std::vector<double> errors_of(const std::vector<double>& values) {
  PlacedValues placed;
  place_values(values, placed);
  DistanceSum sum(placed.sorted);
  const auto all = std::span(values);
  std::vector<double> errors;
  for (std::size_t count = 1; count <= values.size(); ++count) {
    errors.push_back(sum.add(placed.places[count - 1]) - distances_from_median(all.first(count)));
  }
  sum.clear();
  for (std::size_t count = 1; count <= values.size(); ++count) {
    const double found = sum.add(placed.places[values.size() - count]);
    errors.push_back(found - distances_from_median(all.last(count)));
  }
  return errors;
}

TEST(DistanceSum, IsWhatADefinitionByTheMedianGives) {
  constexpr double kRounding = 1e-9;
  std::mt19937_64 random(20261124);
  std::normal_distribution<double> normal;
  for (const std::size_t count : {1U, 2U, 3U, 63U, 64U, 65U, 200U, 400U}) {
    std::vector<double> values;
    std::vector<double> ties;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(5 + normal(random));
      ties.push_back(std::round(2 * values.back()));
    }
    EXPECT_THAT(errors_of(values), Each(DoubleNear(0, kRounding))) << count;
    EXPECT_THAT(errors_of(ties), Each(DoubleNear(0, kRounding))) << count;
    EXPECT_THAT(errors_of(std::vector<double>(count, 2.5)), Each(DoubleNear(0, kRounding)));
    std::sort(values.begin(), values.end());
    EXPECT_THAT(errors_of(values), Each(DoubleNear(0, kRounding))) << count;
  }
}

TEST(PlaceValues, TellsWhereEachStands) {
  PlacedValues placed;
  place_values(std::vector{3.0, -1.0, 7.0, 0.5}, placed);
  EXPECT_THAT(placed.sorted, ElementsAre(-1.0, 0.5, 3.0, 7.0));
  EXPECT_THAT(placed.places, ElementsAre(2, 0, 3, 1));
  place_values(std::vector{2.0, 1.0}, placed);
  EXPECT_THAT(placed.sorted, ElementsAre(1.0, 2.0));
  EXPECT_THAT(placed.places, ElementsAre(1, 0));
}

}  // namespace
}  // namespace llmb::parser
