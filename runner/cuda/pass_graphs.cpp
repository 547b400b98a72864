#include "runner/cuda/pass_graphs.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

// Beside those that were prepared, one for each micro-batch that is under way at a time: for memory
// that is not free then. The one that was launched longest ago goes: a graph of a few thousand
// nodes has some MB of the device, which no plan counts.
constexpr std::size_t kBesidePreparedMax = 32;

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

PassGraphs::KnownPasses::iterator PassGraphs::find(const PassKey& key) {
  return std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
    return one.key == key && pool_.are_free(one.memory);
  });
}

PassGraphs::Known PassGraphs::capture(PassKey key, std::span<Communicator* const> groups,
                                      const std::function<void()>& pass) {
  Known known{std::move(key), {}, {}, {}};
  std::vector<CommunicationTotals> before;
  for (const Communicator* group : groups) before.push_back(group->totals());
  // No call was made: each launch will make them.
  const auto take_calls_back = [&] {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      known.calls.push_back(calls_between(before[i], groups[i]->totals()));
      groups[i]->count_less(known.calls.back());
    }
  };
  try {
    Noting noting(pool_);
    GraphCapture capture(pool_.stream());
    pass();
    known.graph = capture.end();
    known.memory = noting.end();
  } catch (...) {
    take_calls_back();
    throw;
  }
  take_calls_back();
  ++use_.captured;
  use_.captured_nodes += known.graph.node_count();
  return known;
}

// What the pass has left somewhere would not be there for the next one.
void PassGraphs::keep(Known captured) {
  if (!pool_.are_free(captured.memory)) return;
  known_.push_front(std::move(captured));
  if (known_.size() > prepared_ + kBesidePreparedMax) known_.pop_back();
}

void PassGraphs::launch(const Known& known, std::span<Communicator* const> groups) {
  known.graph.launch(pool_.stream());
  ++use_.launched;
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i]->count_again(known.calls[i]);
}

void PassGraphs::prepare(PassKey key, std::span<Communicator* const> groups,
                         const std::function<void()>& pass) {
  ++prepared_;
  if (find(key) == known_.end()) keep(capture(std::move(key), groups, pass));
}

void PassGraphs::run(PassKey key, std::span<Communicator* const> groups,
                     const std::function<void()>& pass) {
  if (use_.mode != PassMode::as_graphs) return pass();
  if (const auto known = find(key); known != known_.end()) {
    launch(*known, groups);
    known_.splice(known_.begin(), known_, known);
    return;
  }
  try {
    Known captured = capture(std::move(key), groups, pass);
    launch(captured, groups);
    return keep(std::move(captured));
  } catch (const CommunicationError&) {
    throw;  // no refusal: the others are gone
  } catch (const CommunicatorFailed&) {
    throw;
  } catch (const std::runtime_error& error) {  // a call of CUDA's, or the launch of a kernel
    const bool is_alone = std::all_of(groups.begin(), groups.end(),
                                      [](const Communicator* group) { return group->size() == 1; });
    if (!is_alone) {
      throw DeviceError("capture a pass as a CUDA graph while other ranks launch theirs", "refused",
                        error.what(), "--cuda-graphs false runs every pass as it is.");
    }
    use_.why_none = error.what();
    use_.is_refused_here = true;
    use_.mode = PassMode::as_they_are;
  }
  pass();
}

}  // namespace llmb::runner::cuda
