#include "parser/statistics/run_standing.h"

namespace llmb::parser {

RunAgainstPublished against_published(const ComparedRun& run,
                                      const std::vector<RunMarkReason>& marks) {
  const RunMetrics& metrics = run.published.metrics;
  return {metrics.speed_against_reference, metrics.reference, noise_run(run, marks)};
}

std::vector<double> speeds_against_reference(std::span<const RunAgainstPublished* const> runs) {
  std::vector<double> speeds;
  for (const RunAgainstPublished* const run : runs) {
    if (run->speed_against_reference) speeds.push_back(*run->speed_against_reference);
  }
  return speeds;
}

std::optional<PublishedStanding> standing_of(std::span<const RunAgainstPublished* const> runs,
                                             std::span<const NoiseRun> known) {
  const std::vector<double> speeds = speeds_against_reference(runs);
  if (speeds.empty()) return std::nullopt;
  double line = 1;
  std::vector<const NoiseRun*> own;
  own.reserve(runs.size());
  for (const RunAgainstPublished* const run : runs) {
    own.push_back(&run->noise);
    if (run->reference == nullptr || !run->reference->step_time_s) continue;
    const PrintedNumber& printed = *run->reference->step_time_s;
    line = printed.value / (printed.value + printed.last_digit / 2);
  }
  return standing_against(speeds, line, noise_for(own, known));
}

}  // namespace llmb::parser
