// Fp8WeightUse: which layouts of a weight in FP8 are wanted: for one product, or for all products
// of a step.
#pragma once

#include <cstdint>

namespace llmb::runner {

enum class Fp8WeightUse : std::uint8_t { forward, backward, whole_step };

}  // namespace llmb::runner
