// PassGraphs: the passes of one direction of a stage as CUDA graphs. A pass that is not known is
// captured; when it is known, only its graph is launched, and none of the host's code runs. Known
// is a pass whose key is equal and which finds free what it took of the pool, and gave back, when
// it was captured. That the same ranks capture the same calls, as NCCL asks for, follows from one
// switch a step (GraphUse).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <string>
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
  // By how much less the device had free once the first step's graphs were there.
  std::int64_t device_bytes = 0;
  // Why passes run as they are from some step on, whatever is asked for; empty: they need not.
  std::string why_none;
  bool is_refused_here = false;  // not only on another rank
};

// Used by the rank's thread; `pool` and `use` outlive it.
class PassGraphs {
 public:
  PassGraphs(MemoryPool& pool, GraphUse& use) : pool_(pool), use_(use) {}

  // Puts the pass on the pool's stream. Where it is captured, it has run at fixed places before, so
  // that nothing is made in it for the first time; it waits for nothing, and neither reads nor
  // writes by the host. `groups` count the calls that they did not see. Where the capture is
  // refused, a rank that talks to nobody in the pass runs it as it is, and all later ones; for any
  // other rank DeviceError says what was tried.
  void run(PassKey key, std::span<Communicator* const> groups, const std::function<void()>& pass);
  // Captures a pass that run() will be asked for, unless it is known; nothing is put on the stream.
  // Throws what a refused capture throws, after which nothing is known of the pass.
  void prepare(PassKey key, std::span<Communicator* const> groups,
               const std::function<void()>& pass);
  void forget() {
    known_.clear();
    prepared_ = 0;
  }

 private:
  struct Known {
    PassKey key;
    PoolStretches memory;
    Graph graph;
    std::vector<CommunicationTotals> calls;  // by group
  };

  using KnownPasses = std::list<Known>;

  KnownPasses::iterator find(const PassKey& key);
  Known capture(PassKey key, std::span<Communicator* const> groups,
                const std::function<void()>& pass);
  void keep(Known captured);
  void launch(const Known& known, std::span<Communicator* const> groups);

  MemoryPool& pool_;
  GraphUse& use_;
  KnownPasses known_;         // the one launched last in front
  std::size_t prepared_ = 0;  // for which there is room whatever else is known
};

}  // namespace llmb::runner::cuda
