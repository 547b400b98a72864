// How the runs of one configuration stand against their published result.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "parser/statistics/mean_comparison.h"
#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/published_standing.h"

namespace llmb::parser {

// What the standing of one run takes.
struct RunAgainstPublished {
  std::optional<double> speed_against_reference;
  const Reference* reference = nullptr;  // null: no published result is the run's
  NoiseRun noise;
};

// Pointers in the result live as long as the catalog.
RunAgainstPublished against_published(const ComparedRun& run);

struct StandingTogether {
  std::optional<MeanEstimate> speed;  // of the runs that have one; nothing where none has
  std::optional<PublishedStanding> standing;
  // That the runs are not held against one published result, in a sentence: then they have neither.
  // Empty where they are, or none has any.
  std::string several_references;
};

// `known`: over the runs' own windows (published_noise_runs()).
StandingTogether standing_together(std::span<const RunAgainstPublished* const> runs,
                                   std::span<const NoiseRun> known);

}  // namespace llmb::parser
