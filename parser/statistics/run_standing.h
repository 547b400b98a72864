// How the runs of one configuration stand against their published result.
#pragma once

#include <optional>
#include <span>
#include <string>
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

// Pointers in the result live as long as the catalog.
RunAgainstPublished against_published(const ComparedRun& run);

// That the runs are not held against one published result, in a sentence: then they have no speed
// and no standing together. Empty where they are, or none has any.
std::string several_references(std::span<const RunAgainstPublished* const> runs);

// Of those that have one.
std::vector<double> speeds_against_reference(std::span<const RunAgainstPublished* const> runs);

// `known`: over the runs' own windows (published_noise_runs()). Nothing where none has a speed.
std::optional<PublishedStanding> standing_of(std::span<const RunAgainstPublished* const> runs,
                                             std::span<const NoiseRun> known);

}  // namespace llmb::parser
