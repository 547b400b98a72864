#include "parser/statistics/published_standing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parser/foundation/name_table.h"
#include "parser/statistics/mean_comparison.h"
#include "parser/statistics/moderated_test.h"

namespace llmb::parser {
namespace {

constexpr auto kStandingVerdicts = name_table<StandingVerdict>({
    {StandingVerdict::reached, "reached"},
    {StandingVerdict::not_reached, "not_reached"},
    {StandingVerdict::not_decided, "not_decided"},
});

}  // namespace

std::string_view standing_verdict_name(StandingVerdict verdict) {
  return kStandingVerdicts.name(verdict);
}

std::optional<PublishedStanding> standing_against(std::span<const double> speeds, double line,
                                                  const RunNoise& noise) {
  if (speeds.empty()) return std::nullopt;
  std::vector<double> logs(speeds.size());
  std::transform(speeds.begin(), speeds.end(), logs.begin(),
                 [](double speed) { return std::log(speed); });
  const RatioInterval bounds = one_sided_bounds(logs, noise, kConfidence);
  PublishedStanding standing;
  standing.speed = std::sqrt(bounds.low * bounds.high);
  standing.low = bounds.low;
  standing.high = bounds.high;
  standing.line = line;
  standing.noise = noise;
  if (bounds.low >= line) standing.verdict = StandingVerdict::reached;
  if (bounds.high < line) standing.verdict = StandingVerdict::not_reached;
  return standing;
}

}  // namespace llmb::parser
