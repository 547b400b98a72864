// A run of one rank, and one rank's exact share of a larger run. In the first every call is a
// copy. In the second (`--rank-slice`) the other members do not exist: whatever they would have
// contributed is replaced by a local copy of this rank's own data, so that every buffer has its
// true size and the arithmetic stays finite. Its losses mean nothing; its step times leave out
// communication.
#pragma once

#include <memory>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

// `size` 1 is a whole run; with more, `rank` is the slice of it that runs.
std::unique_ptr<World> make_loopback_world(int size = 1, int rank = 0);

}  // namespace llmb::runner
