// PassGraphs: the passes of one direction of a stage as CUDA graphs. A pass that is not known is
// captured, and launched; when it comes again, only its graph is launched, and none of the host's
// code runs. Known is a pass whose key is equal and which finds free what it took of the pool, and
// gave back, when it was captured. That the same ranks capture the same calls, as NCCL asks for,
// follows from one switch a step (GraphUse).
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

#include "runner/cuda/graph.h"
#include "runner/cuda/memory_pool.h"
#include "runner/operation/pass_key.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner::cuda {

// How a rank's passes run.
enum class PassMode : std::uint8_t {
  as_they_are,
  // So, but what they work on stays where it is from one pass to the next: before there are graphs,
  // and between those.
  at_fixed_places,
  as_graphs,
};

// Of one rank, and what came of it.
struct GraphUse {
  PassMode mode = PassMode::as_they_are;
  std::int64_t captured = 0;
  std::int64_t captured_nodes = 0;
  std::int64_t launched = 0;
};

// Used by the rank's thread; `pool` and `use` outlive it.
class PassGraphs {
 public:
  PassGraphs(MemoryPool& pool, GraphUse& use) : pool_(pool), use_(use) {}

  // Puts the pass on the pool's stream. Where it is captured, it has run at fixed places before, so
  // that nothing is made in it for the first time; it waits for nothing, and neither reads nor
  // writes by the host: DeviceError says what it tried. `groups` count the calls that they did not
  // see.
  void run(PassKey key, std::span<Communicator* const> groups, const std::function<void()>& pass);

 private:
  struct Known {
    PassKey key;
    PoolStretches memory;
    Graph graph;
    std::vector<CommunicationTotals> calls;  // by group
  };

  Known capture(PassKey key, std::span<Communicator* const> groups,
                const std::function<void()>& pass);

  MemoryPool& pool_;
  GraphUse& use_;
  std::list<Known> known_;  // the one launched last in front
};

}  // namespace llmb::runner::cuda
