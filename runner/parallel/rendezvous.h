// Rendezvous: how the processes of a run find each other. Rank 0 waits at an address that all know;
// the others come, say where they themselves listen, and learn where everybody is; then every pair
// of ranks has a connection. Who does not know the job's key (RendezvousKey) takes nobody's place.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "runner/parallel/bootstrap.h"
#include "runner/parallel/communicator.h"
#include "runner/parallel/socket.h"

namespace llmb::runner {

struct RendezvousOptions {
  // Until all are connected, where the place does not say how long.
  std::chrono::milliseconds patience{std::chrono::minutes(2)};
  // From then on, in each call of a rank to another.
  std::chrono::milliseconds call_patience{kRankPatience};
  // Called on rank 0 with the port that it waits at: tests let the system choose one (port 0).
  std::function<void(int port)> on_listening;
};

// By rank; this rank's own is closed. Throws CommunicationError, which on rank 0 names the ranks
// that did not come.
std::vector<Socket> connect_ranks(const ProcessPlace& place, const RendezvousOptions& options);

}  // namespace llmb::runner
