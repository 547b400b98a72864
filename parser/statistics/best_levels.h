// The levels of a series, for each number of changes that it may have: where they begin so that its
// values lie nearest to the medians of their levels. Whether it has changes is not told here; see
// change_points.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parser/statistics/distance_sum.h"

namespace llmb::parser {

struct Levels {
  std::vector<std::size_t> begins;  // of each level but the first, rising
  double loss = 0;                  // the sum of the values' distances from their level's median
};

// Element k is of k changes. As many as there may be of levels of `level_min` values, and at most
// as many as levels of five values on average would need, which is one at least, or kChangesMax.
// Nothing is empty: `values` are `level_min` or more.
inline constexpr std::size_t kChangesMax = 24;
std::vector<Levels> best_levels(const PlacedValues& values, std::size_t level_min);

// By how much the best single change lowers the loss; 0 where there are fewer values than twice
// `level_min`.
double best_gain(const PlacedValues& values, std::size_t level_min);

// The values' distances from the medians of their levels.
std::vector<double> distances_from(std::span<const double> values, const Levels& levels);

}  // namespace llmb::parser
