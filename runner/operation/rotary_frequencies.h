// RotaryFrequencies: how fast the pairs of a rotary position embedding turn. With a scaling factor
// above 1, as Llama 3.1 has it for long contexts: pairs that turn less than `low` times over the
// original length turn `factor` times slower, those that turn more than `high` times turn as
// before, and between the two it goes over smoothly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace llmb::runner {

struct RotaryFrequencies {
  double base = 1e4;
  double scaling_factor = 1;
  double low_turns = 1;
  double high_turns = 4;
  double original_length = 8192;  // positions

  // Radians per position of pair `index` of `count`.
  double of_pair(std::int64_t index, std::int64_t count) const {
    const double exponent = -static_cast<double>(index) / static_cast<double>(count);
    const double frequency = std::pow(base, exponent);
    if (scaling_factor == 1) return frequency;
    const double turns = original_length * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low_turns) / (high_turns - low_turns), 0.0, 1.0);
    return frequency * (kept + (1 - kept) / scaling_factor);
  }
};

}  // namespace llmb::runner
