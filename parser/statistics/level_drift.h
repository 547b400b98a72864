// LevelDrift: a level that moves slowly, from one value to the next, and which change_points()
// takes for one level, or for several that follow each other: a line, flat before it begins and
// after it ends, that tells more of the values than levels do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "parser/statistics/robust_line.h"

namespace llmb::parser {

struct LevelDrift {
  std::size_t level = 0;  // index: where the level begins that drifts; what change_points() finds
                          // behind it is the drift's
  std::size_t begin = 0;  // the last value before it moves
  std::size_t end = 0;    // the last value that has moved
  LinePoint from;         // of the line, at `begin`
  LinePoint to;           // at `end`
  // It moves from the first value that was looked at on, and there are older ones.
  bool may_begin_earlier = false;

  // Of the line, which is flat outside of these; of the level's values only.
  double at(double place) const;
};

// `points`: the values by their places in the order of time; of more than kDriftValuesMax only the
// newest are looked at. `changes`: as change_points() has them. `deviation_min`: as in
// SegmentationOptions. A level that does not move by three of it does not drift, nor does one of
// fewer than kDriftValuesMin values.
//
// The values rise or fall by Mann and Kendall's test at 5 %, as if each took over half of the one
// before it: the variance of the score is three times that of independent values (Hamed and Rao
// 1998). Of series that neither change nor drift, one of a hundred drifts at most.
inline constexpr std::size_t kDriftValuesMin = 8;
inline constexpr std::size_t kDriftValuesMax = 200;
std::optional<LevelDrift> level_drift(std::span<const LinePoint> points,
                                      std::span<const std::size_t> changes, double deviation_min);

}  // namespace llmb::parser
