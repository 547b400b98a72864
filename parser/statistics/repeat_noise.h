// RepeatNoise: what the repeats of one configuration tell of its own noise between runs. Where a
// user has measured a configuration twenty times, that tells more of the next run of it than what
// other configurations have in common.
#pragma once

#include <cstdint>
#include <span>

#include "parser/statistics/run_noise.h"

namespace llmb::parser {

struct RepeatNoise {
  double squares = 0;  // of the logarithms of their locations, about their levels
  double degrees_of_freedom = 0;
  std::int64_t run_count = 0;
};

// `log_locations`: in the order of the starts; only the newest kRepeatsMax count. `places`: of each
// among all runs of the configuration, where it has others between them; empty: they follow each
// other. A level that changed meanwhile (change_points.h) or drifts (level_drift.h) is no noise,
// and among a dozen runs or more an odd one counts as if it were kOddDeviations away.
inline constexpr std::size_t kRepeatsMax = 30;
inline constexpr double kOddDeviations = 4.0;
RepeatNoise noise_of_repeats(std::span<const double> log_locations,
                             std::span<const double> places = {});

// The prior with what the repeats add to it: their squares and their degrees of freedom, each by
// this weight. The locations of runs have longer tails than normal ones: over the 33 public
// configurations their excess kurtosis is 0.5, with which a sum of squares tells as much as
// 1 / (1 + 0.5 / 2) of it would of normal values (Box 1953).
inline constexpr double kRepeatWeight = 0.8;
RunNoise with_repeats(RunNoise prior, std::span<const RepeatNoise> repeats);

}  // namespace llmb::parser
