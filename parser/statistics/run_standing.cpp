#include "parser/statistics/run_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace llmb::parser {

namespace {

std::string several_references(std::span<const RunAgainstPublished* const> runs) {
  if (runs.empty()) return "";
  const Reference* const first = runs.front()->reference;
  const auto other = std::ranges::find_if(
      runs, [&](const RunAgainstPublished* run) { return run->reference != first; });
  if (other == runs.end()) return "";
  const Reference* const second = (*other)->reference;
  if (first == nullptr || second == nullptr) {
    return "Some of the runs have a published result, and others have none.";
  }
  const auto name = [](const Reference& reference) {
    return fmt::format("{} {} {} {} on {} GPUs", reference.document, reference.model_size,
                       reference.dtype, reference.gpu_type, reference.gpu_count);
  };
  return fmt::format("The runs have different published results: {} and {}.", name(*first),
                     name(*second));
}

std::optional<PublishedStanding> standing_of(const std::vector<double>& speeds,
                                             std::span<const RunAgainstPublished* const> runs,
                                             std::span<const NoiseRun> known) {
  if (speeds.empty()) return std::nullopt;
  std::vector<const NoiseRun*> own;
  own.reserve(runs.size());
  for (const RunAgainstPublished* const run : runs) own.push_back(&run->noise);
  double line = 1;
  const Reference* const reference = runs.front()->reference;
  if (reference != nullptr && reference->step_time_s) {
    const PrintedNumber& printed = *reference->step_time_s;
    line = printed.value / (printed.value + printed.last_digit / 2);
  }
  return standing_against(speeds, line, noise_for(own, known));
}

}  // namespace

RunAgainstPublished against_published(const ComparedRun& run) {
  const RunMetrics& metrics = run.published.metrics;
  return {metrics.speed_against_reference, metrics.reference, published_noise_run(run)};
}

StandingTogether standing_together(std::span<const RunAgainstPublished* const> runs,
                                   std::span<const NoiseRun> known) {
  StandingTogether together;
  together.several_references = several_references(runs);
  if (!together.several_references.empty()) return together;
  std::vector<double> speeds;
  for (const RunAgainstPublished* const run : runs) {
    if (run->speed_against_reference) speeds.push_back(*run->speed_against_reference);
  }
  together.speed = estimate_mean(speeds);
  together.standing = standing_of(speeds, runs, known);
  return together;
}

}  // namespace llmb::parser
