#include "runner/cuda/pass_graphs.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

// As many as micro-batches are under way in a pipeline, and some for memory that is not free. The
// one that was launched longest ago goes: a graph of a few thousand nodes has some MB of the
// device, which no plan counts.
constexpr std::size_t kKnownMax = 32;

CommunicationTotals calls_between(const CommunicationTotals& before,
                                  const CommunicationTotals& after) {
  return {after.calls - before.calls, after.bytes_sent - before.bytes_sent, 0};
}

// The pool notes what it gives as long as one stands.
class Noting {
 public:
  explicit Noting(MemoryPool& pool) : pool_(pool) { pool_.begin_noting(); }
  ~Noting() { end(); }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
  PoolStretches end() { return pool_.end_noting(); }

 private:
  MemoryPool& pool_;
};

}  // namespace

PassGraphs::Known PassGraphs::capture(PassKey key, std::span<Communicator* const> groups,
                                      const std::function<void()>& pass) {
  Known known{std::move(key), {}, {}, {}};
  for (const Communicator* group : groups) known.calls.push_back(group->totals());
  try {
    Noting noting(pool_);
    GraphCapture capture(pool_.stream());
    pass();
    known.graph = capture.end();
    known.memory = noting.end();
  } catch (const DeviceError& error) {
    throw DeviceError("capture a pass as a CUDA graph", error.code(), error.what(),
                      "--cuda-graphs false runs every pass as it is.");
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    known.calls[i] = calls_between(known.calls[i], groups[i]->totals());
  }
  ++use_.captured;
  use_.captured_nodes += known.graph.node_count();
  return known;
}

void PassGraphs::run(PassKey key, std::span<Communicator* const> groups,
                     const std::function<void()>& pass) {
  if (use_.mode != PassMode::as_graphs) return pass();
  ++use_.launched;
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
    return one.key == key && pool_.are_free(one.memory);
  });
  if (known != known_.end()) {
    known->graph.launch(pool_.stream());
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i]->count_again(known->calls[i]);
    known_.splice(known_.begin(), known_, known);
    return;
  }
  Known captured = capture(std::move(key), groups, pass);
  captured.graph.launch(pool_.stream());
  // What the pass has left somewhere would not be there for the next one.
  if (!pool_.are_free(captured.memory)) return;
  known_.push_front(std::move(captured));
  if (known_.size() > kKnownMax) known_.pop_back();
}

}  // namespace llmb::runner::cuda
