// Ranks as processes, on one host or several, over TCP: what `srun llmb-step-runner` talks
// through where no GPU is. The reductions add in the same order as those between threads, so
// both give the same bits, and calls are compared between the ranks in the same way.
#pragma once

#include <memory>

#include "runner/parallel/communicator.h"
#include "runner/parallel/rendezvous.h"

namespace llmb::runner {

// Finds the other ranks, and returns when every pair of them is connected. Throws
// CommunicationError where that does not happen in time. Also for a run of one rank.
std::unique_ptr<World> make_socket_world(const ProcessPlace& place,
                                         const RendezvousOptions& options = {});

}  // namespace llmb::runner
