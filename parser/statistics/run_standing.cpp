#include "parser/statistics/run_standing.h"

namespace llmb::parser {

std::vector<double> speeds_against_reference(const std::vector<ComparedRun>& runs,
                                             std::span<const std::size_t> indexes) {
  std::vector<double> speeds;
  for (const std::size_t index : indexes) {
    const auto& speed = runs[index].published.metrics.speed_against_reference;
    if (speed) speeds.push_back(*speed);
  }
  return speeds;
}

std::optional<PublishedStanding> standing_of(const std::vector<ComparedRun>& runs,
                                             std::span<const std::size_t> indexes,
                                             std::span<const NoiseRun> known) {
  const std::vector<double> speeds = speeds_against_reference(runs, indexes);
  if (speeds.empty()) return std::nullopt;
  double line = 1;
  std::vector<const ComparedRun*> own;
  for (const std::size_t index : indexes) {
    own.push_back(&runs[index]);
    const Reference* const reference = runs[index].published.metrics.reference;
    if (reference == nullptr || !reference->step_time_s) continue;
    const PrintedNumber& printed = *reference->step_time_s;
    line = printed.value / (printed.value + printed.last_digit / 2);
  }
  return standing_against(speeds, line, noise_for(own, known));
}

}  // namespace llmb::parser
