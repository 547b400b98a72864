// How the runs of one configuration stand against their published result.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/published_standing.h"

namespace llmb::parser {

// Of those of `indexes` that have one.
std::vector<double> speeds_against_reference(const std::vector<ComparedRun>& runs,
                                             std::span<const std::size_t> indexes);

// Nothing where none has a speed.
std::optional<PublishedStanding> standing_of(const std::vector<ComparedRun>& runs,
                                             std::span<const std::size_t> indexes,
                                             std::span<const NoiseRun> known);

}  // namespace llmb::parser
