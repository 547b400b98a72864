// Random numbers by position instead of by sequence: the value at (key, index) is always the same,
// whoever asks for it and in whatever order. What data and initial weights are drawn from, so that
// every parallel layout draws the same. Not for cryptography.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "parser/foundation/content_hash.h"

namespace llmb::runner {

// The finalizer of the SplitMix64 generator (Steele, Lea, Flood 2014): every bit of the input
// moves every bit of the output.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

constexpr std::uint64_t combine_key(std::uint64_t key, std::uint64_t more) {
  return scramble(key ^ scramble(more));
}

// Stable across builds and machines, which std::hash is not.
constexpr std::uint64_t key_of(std::string_view name) {
  return parser::fnv1a(name);
}

// In (0, 1].
constexpr double unit_at(std::uint64_t key, std::uint64_t index) {
  return (static_cast<double>(combine_key(key, index) >> 11U) + 1.0) * 0x1.0p-53;
}

// Of mean 0 and standard deviation 1 (Box and Muller).
inline double normal_at(std::uint64_t key, std::uint64_t index) {
  const double radius = std::sqrt(-2.0 * std::log(unit_at(key, 2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * unit_at(key, 2 * index + 1));
}

}  // namespace llmb::runner
