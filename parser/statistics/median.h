// The median of a sample.
#pragma once

#include <span>

namespace llmb::parser {

// The middle one, or the mean of the two in the middle. `values`: any order, at least one.
double median_of(std::span<const double> values);

// Turns the median of the distances from a median into the standard deviation of a normal
// distribution.
inline constexpr double kDeviationsPerMad = 1.4826;

}  // namespace llmb::parser
