// How the runs of one configuration stand against their published result.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/published_standing.h"

namespace llmb::parser {

// What the standing of one run takes.
struct RunAgainstPublished {
  std::optional<double> speed_against_reference;
  const Reference* reference = nullptr;  // null: no published result is the run's
  NoiseRun noise;
};

// `marks`: the run's. Pointers in the result live as long as the catalog.
RunAgainstPublished against_published(const ComparedRun& run,
                                      const std::vector<RunMarkReason>& marks);

// Of those that have one.
std::vector<double> speeds_against_reference(std::span<const RunAgainstPublished* const> runs);

// Nothing where none has a speed.
std::optional<PublishedStanding> standing_of(std::span<const RunAgainstPublished* const> runs,
                                             std::span<const NoiseRun> known);

}  // namespace llmb::parser
