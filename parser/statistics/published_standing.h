// PublishedStanding: whether runs reach a line, such as the speed of their published result. One
// value is a run's speed; the bounds are one-sided, with the noise between runs as in comparisons.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parser/statistics/run_noise.h"

namespace llmb::parser {

enum class StandingVerdict {
  reached,      // the lower bound is at the line or above
  not_reached,  // the upper bound is below it
  not_decided,
};
std::string_view standing_verdict_name(StandingVerdict verdict);

struct PublishedStanding {
  StandingVerdict verdict = StandingVerdict::not_decided;
  double speed = 0;  // geometric mean of the runs' speeds
  double low = 0;    // the speed is above it, with kConfidence
  double high = 0;   // the speed is below it, with kConfidence
  // 1, less what the rounding of the published figure explains: who reaches any value that would
  // be printed alike has reached it.
  double line = 1;
  RunNoise noise;
};

// `speeds`: published step time / a run's, over 0. Nothing for no runs.
std::optional<PublishedStanding> standing_against(std::span<const double> speeds, double line,
                                                  const RunNoise& noise);

}  // namespace llmb::parser
