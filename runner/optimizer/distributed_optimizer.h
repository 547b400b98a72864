// DistributedOptimizer: AdamW whose states are shared out over the data-parallel ranks. A step
// sums gradients (reduce-scatter), clips them by the norm over the whole model, updates this
// rank's share of the weights in full precision, and gathers everybody's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/model/backend_types.h"
#include "runner/model/parameter_store.h"
#include "runner/operation/adamw_settings.h"
#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

struct OptimizerSettings {
  AdamWSettings adamw;
  double gradient_norm_max = 1.0;  // 0: not clipped
  // The model keeps of an updated weight what BF16 does.
  bool has_narrow_weights = false;
};

struct OptimizerStep {
  double gradient_norm = 0;  // over the whole model, before clipping
  bool is_updated = false;   // false where the norm is no number: weights and states stay
};

// This rank's share of one block: elements [first, first + master.size()) of it.
template <typename Backend>
struct OptimizerShard {
  using Masters = typename Backend::template Array<typename Backend::Master>;

  std::int64_t first = 0;
  Masters master;        // the weights in full precision
  Masters first_moment;  // of the gradients
  Masters second_moment;
};

// A piece of one parameter in a share, as an update takes it; in the backend's memory.
template <typename Backend>
struct OptimizerStretch {
  std::span<const typename Backend::Gradient> gradients;
  std::span<typename Backend::Master> master;
  std::span<typename Backend::Master> first_moment;
  std::span<typename Backend::Master> second_moment;
  bool decays = true;
};

// Used by the rank's thread; `ops`, `store` and `groups` outlive it. All ranks call step together.
template <typename Backend>
class DistributedOptimizer {
 public:
  // Its weights are zero: draw them, or restore them from a checkpoint.
  DistributedOptimizer(typename Backend::Ops& ops, ParameterStore<Backend>& store,
                       const RankGroups& groups, OptimizerSettings settings);

  // Draws its share of the weights in full precision (parameter_values.h), and gathers what the
  // model computes with. Each weight is drawn on one rank of those that share it.
  void draw_weights(const ModelSpec& spec, std::uint64_t seed);

  // The store's gradients are this rank's part of the sum over the global batch. They are used up:
  // zero them before the next step.
  OptimizerStep step(double learning_rate);

  // Updates made so far.
  std::int64_t update_count() const { return update_count_; }

  const OptimizerShard<Backend>& shard(ParameterBlock block) const {
    return shards_[static_cast<std::size_t>(block)];
  }
  OptimizerShard<Backend>& shard(ParameterBlock block) {
    return shards_[static_cast<std::size_t>(block)];
  }
  // After shards were written from a checkpoint: takes the count, and gathers the weights.
  void restored(std::int64_t update_count);

  // Bytes of the states, which stay from step to step.
  std::int64_t state_bytes() const;

 private:
  using Gradient = typename Backend::Gradient;
  using Master = typename Backend::Master;
  using Stretch = OptimizerStretch<Backend>;

  Stretch stretch_of(const LocalParameter<Backend>& local);
  void sum_over_tensor_group();
  void scatter_gradients();
  // (1, 2): the norm of the whole model's gradients, and the factor that clips them.
  Totals<Backend> norm_and_clip();
  void update(double learning_rate, TotalsView<Backend> norm_and_scale);
  void gather_weights();
  Communicator& group_of(ParameterBlock block) const;

  typename Backend::Ops& ops_;
  ParameterStore<Backend>& store_;
  const RankGroups& groups_;
  OptimizerSettings settings_;
  bool counts_whole_parameters_;                 // in the norm: one rank of a tensor group does
  std::vector<OptimizerShard<Backend>> shards_;  // by block
  std::int64_t update_count_ = 0;
};

}  // namespace llmb::runner
