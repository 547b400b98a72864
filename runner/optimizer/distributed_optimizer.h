// DistributedOptimizer: AdamW whose states are shared out over the data-parallel ranks. A step
// sums gradients (reduce-scatter), clips them by the norm over the whole model, updates this
// rank's share of the weights in full precision, and gathers everybody's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runner/cpu/adamw.h"
#include "runner/model/parameter_store.h"
#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

template <typename T>
struct OptimizerSettings {
  cpu::AdamWSettings adamw;
  double gradient_norm_max = 1.0;  // 0: not clipped
  // What the model keeps of an updated weight (rounding to BF16); empty: all of it.
  std::function<T(T)> round_weight;
};

struct OptimizerStep {
  double gradient_norm = 0;  // over the whole model, before clipping
  bool is_updated = false;   // false where the norm is no number: weights and states stay
};

// This rank's share of one block: elements [first, first + master.size()) of it.
template <typename T>
struct OptimizerShard {
  std::int64_t first = 0;
  std::vector<T> master;        // the weights in full precision
  std::vector<T> first_moment;  // of the gradients
  std::vector<T> second_moment;
};

// Used by the rank's thread; `store` and `groups` outlive it. All ranks call step together.
template <typename T>
class DistributedOptimizer {
 public:
  // Takes the store's weights as they are: initialize or load before.
  DistributedOptimizer(ParameterStore<T>& store, const RankGroups& groups,
                       OptimizerSettings<T> settings);

  // The store's gradients are this rank's part of the sum over the global batch. They are used up:
  // zero them before the next step.
  OptimizerStep step(double learning_rate);

  // Updates made so far.
  std::int64_t update_count() const { return update_count_; }

  const OptimizerShard<T>& shard(ParameterBlock block) const {
    return shards_[static_cast<std::size_t>(block)];
  }
  OptimizerShard<T>& shard(ParameterBlock block) {
    return shards_[static_cast<std::size_t>(block)];
  }
  // After shards were written from a checkpoint: takes the count, and gathers the weights.
  void restored(std::int64_t update_count);

  // Bytes that stay from step to step: of the states, and of this rank's share of the gradients.
  std::int64_t state_bytes() const;
  std::int64_t gradient_bytes() const;

 private:
  std::span<T> gradient_share(ParameterBlock block);
  void sum_over_tensor_group();
  void scatter_gradients();
  double sum_of_squares();
  void update(double learning_rate, double gradient_scale);
  void gather_weights();
  Communicator& group_of(ParameterBlock block) const;

  ParameterStore<T>& store_;
  const RankGroups& groups_;
  OptimizerSettings<T> settings_;
  bool counts_whole_parameters_;           // in the norm: one rank of a tensor group does
  std::vector<OptimizerShard<T>> shards_;  // by block
  // This rank's share, summed; by block. Fully sharded parameters bring theirs.
  std::vector<std::vector<T>> gradients_;
  std::int64_t update_count_ = 0;
};

extern template class DistributedOptimizer<float>;
extern template class DistributedOptimizer<double>;

}  // namespace llmb::runner
