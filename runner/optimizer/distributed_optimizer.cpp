#include "runner/optimizer/distributed_optimizer.h"

#include <algorithm>
#include <cmath>

namespace llmb::runner {
namespace {

// The part of one parameter that lies in a share of its block.
struct Overlap {
  std::size_t in_shard = 0;
  std::size_t count = 0;
};

template <typename T>
Overlap overlap_of(const LocalParameter<T>& local, const OptimizerShard<T>& shard) {
  const std::int64_t shard_end = shard.first + static_cast<std::int64_t>(shard.master.size());
  const std::int64_t begin = std::max(local.block_offset, shard.first);
  const std::int64_t end = std::min(local.block_offset + local.element_count(), shard_end);
  if (begin >= end) return {};
  return {static_cast<std::size_t>(begin - shard.first), static_cast<std::size_t>(end - begin)};
}

}  // namespace

template <typename T>
DistributedOptimizer<T>::DistributedOptimizer(ParameterStore<T>& store, const RankGroups& groups,
                                              OptimizerSettings<T> settings)
    : store_(store),
      groups_(groups),
      settings_(std::move(settings)),
      counts_whole_parameters_(groups.tensor->rank() == 0) {
  for (const ParameterBlock block : kParameterBlocks) {
    const Communicator& group = group_of(block);
    const std::span<const T> weights = store.weights(block);
    const std::size_t count = weights.size() / static_cast<std::size_t>(group.size());
    const std::size_t first = count * static_cast<std::size_t>(group.rank());
    OptimizerShard<T>& mine = shard(block);
    mine.first = static_cast<std::int64_t>(first);
    const std::span<const T> part = weights.subspan(first, count);
    mine.master.assign(part.begin(), part.end());
    mine.first_moment.assign(count, T{0});
    mine.second_moment.assign(count, T{0});
    gradients_[static_cast<std::size_t>(block)].assign(count, T{0});
  }
  gather_weights();  // the model begins with weights that are rounded as they will be
}

template <typename T>
Communicator& DistributedOptimizer<T>::group_of(ParameterBlock block) const {
  return block == ParameterBlock::dense ? *groups_.data_context : *groups_.expert_data;
}

// A parameter that every rank of a tensor group holds whole saw only that rank's tokens.
template <typename T>
void DistributedOptimizer<T>::sum_over_tensor_group() {
  if (groups_.tensor->size() == 1) return;
  std::vector<T> packed;
  for (const LocalParameter<T>& local : store_.parameters()) {
    if (local.parameter.tensor_axis) continue;
    packed.insert(packed.end(), local.gradient.begin(), local.gradient.end());
  }
  groups_.tensor->all_reduce(packed, ReduceOp::sum, "optimizer.whole_gradients");
  auto from = packed.begin();
  for (const LocalParameter<T>& local : store_.parameters()) {
    if (local.parameter.tensor_axis) continue;
    std::copy_n(from, local.gradient.size(), local.gradient.begin());
    from += static_cast<std::ptrdiff_t>(local.gradient.size());
  }
}

template <typename T>
void DistributedOptimizer<T>::scatter_gradients() {
  for (const ParameterBlock block : kParameterBlocks) {
    group_of(block).reduce_scatter(store_.gradients(block),
                                   gradients_[static_cast<std::size_t>(block)],
                                   "optimizer.gradients");
  }
}

// Over the elements of this rank's shares that no other rank counts.
template <typename T>
double DistributedOptimizer<T>::sum_of_squares() const {
  double sum = 0;
  for (const LocalParameter<T>& local : store_.parameters()) {
    if (!local.parameter.tensor_axis && !counts_whole_parameters_) continue;
    const ParameterBlock block = local.block();
    const Overlap overlap = overlap_of(local, shard(block));
    const std::span<const T> gradients = gradients_[static_cast<std::size_t>(block)];
    sum += cpu::AdamW<T>::sum_of_squares(gradients.subspan(overlap.in_shard, overlap.count));
  }
  return sum;
}

template <typename T>
void DistributedOptimizer<T>::update(double learning_rate, double gradient_scale) {
  ++update_count_;
  for (const LocalParameter<T>& local : store_.parameters()) {
    const ParameterBlock block = local.block();
    OptimizerShard<T>& mine = shard(block);
    const Overlap overlap = overlap_of(local, mine);
    if (overlap.count == 0) continue;
    cpu::AdamWSettings settings = settings_.adamw;
    settings.learning_rate = learning_rate;
    if (!local.parameter.has_weight_decay()) settings.weight_decay = 0;
    const auto part = [&](std::vector<T>& all) {
      return std::span<T>(all).subspan(overlap.in_shard, overlap.count);
    };
    cpu::AdamW<T>::update(settings, update_count_, gradient_scale,
                          part(gradients_[static_cast<std::size_t>(block)]), part(mine.master),
                          part(mine.first_moment), part(mine.second_moment));
  }
}

template <typename T>
void DistributedOptimizer<T>::gather_weights() {
  for (const ParameterBlock block : kParameterBlocks) {
    std::vector<T> kept = shard(block).master;
    if (settings_.round_weight) {
      std::transform(kept.begin(), kept.end(), kept.begin(), settings_.round_weight);
    }
    group_of(block).all_gather(kept, store_.weights(block), "optimizer.weights");
  }
}

template <typename T>
OptimizerStep DistributedOptimizer<T>::step(double learning_rate) {
  sum_over_tensor_group();
  scatter_gradients();
  std::vector<double> squares = {sum_of_squares()};
  groups_.world->all_reduce(squares, ReduceOp::sum, "optimizer.gradient_norm");
  OptimizerStep result;
  result.gradient_norm = std::sqrt(squares[0]);
  if (!std::isfinite(result.gradient_norm)) return result;
  update(learning_rate, cpu::clip_scale(result.gradient_norm, settings_.gradient_norm_max));
  gather_weights();
  result.is_updated = true;
  return result;
}

template <typename T>
void DistributedOptimizer<T>::restored(std::int64_t update_count) {
  update_count_ = update_count;
  gather_weights();
}

template class DistributedOptimizer<float>;
template class DistributedOptimizer<double>;

}  // namespace llmb::runner
