// MemoryPlan: what a rank of every pipeline stage holds, in bytes, before anything runs. Ranks of
// one stage hold the same. BF16 weights, FP32 gradients, FP32 optimizer
// states spread over the data-parallel group, activations kept as deep as 1F1B needs them.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/plan/layer_cost.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

struct StageBytes {
  int stage = 0;
  std::vector<LayerRange> chunks;
  std::int64_t parameter_count = 0;         // on one rank, without experts
  std::int64_t expert_parameter_count = 0;  // on one rank
  // Forward passes whose activations wait for their backward pass, at the deepest.
  std::int64_t live_passes = 0;

  std::int64_t parameters = 0;
  std::int64_t fp8_weights = 0;  // kept beside them for a whole step, in both layouts
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;
  std::int64_t activations = 0;
  std::int64_t pass = 0;    // of the layers, while a pass runs
  std::int64_t logits = 0;  // of a chunk of the head, with what is beside them: what `pass` lacks
  std::int64_t communication = 0;  // messages of the pipeline; what is gathered of a sharded model
  std::int64_t graphs = 0;         // of the driver, for graphs of passes
  std::int64_t communicators = 0;  // of the library that ranks talk by
  std::int64_t reserve = 0;        // context, libraries, workspaces; what a pool cannot join
  std::int64_t host = 0;           // offloaded activations; not in total()

  std::int64_t total() const {
    return parameters + fp8_weights + gradients + optimizer + activations + pass + logits +
           communication + graphs + communicators + reserve;
  }
  // Of that, what a rank's pool gives.
  std::int64_t pooled() const { return total() - graphs - communicators - reserve; }
  // What a rank on a device takes for all this, in one piece, before its first step: with a
  // fiftieth of it for what cannot be joined, which comes out of the reserve.
  std::int64_t arena() const {
    constexpr std::int64_t kJoinedShare = 50;
    return pooled() + pooled() / kJoinedShare;
  }
};

struct MemoryPlan {
  std::vector<StageBytes> stages;

  const StageBytes& largest() const;
  bool fits(std::int64_t capacity_bytes) const { return largest().total() <= capacity_bytes; }
  // Over all ranks: what a machine needs that runs them all as threads.
  std::int64_t total_of_all_ranks(const ParallelSizes& sizes) const;
};

// What a rank may plan with on a device of so many bytes, of which so many are free: those, and
// what the context that is there already takes of the reserve.
std::int64_t plannable_bytes(const StageBytes& stage, std::int64_t total_bytes,
                             std::int64_t free_bytes);

MemoryPlan make_memory_plan(const RunSettings& settings);

}  // namespace llmb::runner
