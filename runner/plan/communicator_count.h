// How many communicators a rank of a device joins, of which the library keeps memory there.
#pragma once

#include <cstdint>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// What is planned for one: buffers for each channel and neighbour, made by the first call that
// needs them. No document says how much, and none was measured; users tell of up to 0.7 GB of
// versions that made them all at once. A run tells what they took.
inline constexpr std::int64_t kCommunicatorBytes = std::int64_t{128} << 20;

// One for each list of several ranks that is a group of this stage's ranks, and one for each
// direction of a pipeline. None on the CPU, and none of a rank that runs alone.
int communicator_count(const RunSettings& settings, int stage);

}  // namespace llmb::runner
