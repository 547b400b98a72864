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
  shards_.resize(store.blocks().size());
  gradients_.resize(store.blocks().size());
  for (const ParameterBlock block : store.blocks()) {
    const std::span<const T> part = store.weight_share(block);
    OptimizerShard<T>& mine = shard(block);
    mine.first = store.share_first(block);
    mine.master.assign(part.begin(), part.end());
    mine.first_moment.assign(part.size(), T{0});
    mine.second_moment.assign(part.size(), T{0});
    if (!store.is_sharded()) {
      gradients_[static_cast<std::size_t>(block)].assign(part.size(), T{0});
    }
  }
  gather_weights();  // the model begins with weights that are rounded as they will be
}

template <typename T>
Communicator& DistributedOptimizer<T>::group_of(ParameterBlock block) const {
  return is_expert(block) ? *groups_.expert_data : *groups_.data_context;
}

template <typename T>
std::span<T> DistributedOptimizer<T>::gradient_share(ParameterBlock block) {
  if (store_.is_sharded()) return store_.gradient_share(block);
  return gradients_[static_cast<std::size_t>(block)];
}

template <typename T>
std::int64_t DistributedOptimizer<T>::state_bytes() const {
  std::size_t elements = 0;
  for (const OptimizerShard<T>& part : shards_) elements += 3 * part.master.size();
  return static_cast<std::int64_t>(elements * sizeof(T));
}

template <typename T>
std::int64_t DistributedOptimizer<T>::gradient_bytes() const {
  std::size_t elements = 0;
  for (const std::vector<T>& part : gradients_) elements += part.size();
  return static_cast<std::int64_t>(elements * sizeof(T));
}

// A parameter that every rank of a tensor group holds whole saw only that rank's tokens. The shares
// of a tensor group's ranks are of the same elements.
template <typename T>
void DistributedOptimizer<T>::sum_over_tensor_group() {
  if (groups_.tensor->size() == 1) return;
  std::vector<std::span<T>> parts;
  parts.reserve(store_.parameters().size());
  std::vector<T> packed;
  for (const LocalParameter<T>& local : store_.parameters()) {
    if (local.parameter.tensor_axis) continue;
    const Overlap overlap = overlap_of(local, shard(local.block()));
    parts.push_back(gradient_share(local.block()).subspan(overlap.in_shard, overlap.count));
    packed.insert(packed.end(), parts.back().begin(), parts.back().end());
  }
  groups_.tensor->all_reduce(packed, ReduceOp::sum, "optimizer.whole_gradients");
  auto from = packed.begin();
  for (const std::span<T> part : parts) {
    std::copy_n(from, part.size(), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  }
}

// Fully sharded gradients were scattered layer by layer.
template <typename T>
void DistributedOptimizer<T>::scatter_gradients() {
  if (store_.is_sharded()) return;
  for (const ParameterBlock block : store_.blocks()) {
    group_of(block).reduce_scatter(store_.gradients(block), gradient_share(block),
                                   "optimizer.gradients");
  }
}

// Over the elements of this rank's shares that no other rank counts.
template <typename T>
double DistributedOptimizer<T>::sum_of_squares() {
  double sum = 0;
  for (const LocalParameter<T>& local : store_.parameters()) {
    if (!local.parameter.tensor_axis && !counts_whole_parameters_) continue;
    const ParameterBlock block = local.block();
    const Overlap overlap = overlap_of(local, shard(block));
    const std::span<const T> gradients = gradient_share(block);
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
                          gradient_share(block).subspan(overlap.in_shard, overlap.count),
                          part(mine.master), part(mine.first_moment), part(mine.second_moment));
  }
}

template <typename T>
void DistributedOptimizer<T>::gather_weights() {
  for (const ParameterBlock block : store_.blocks()) {
    std::vector<T> kept = shard(block).master;
    if (settings_.round_weight) {
      std::transform(kept.begin(), kept.end(), kept.begin(), settings_.round_weight);
    }
    if (store_.is_sharded()) {
      std::copy(kept.begin(), kept.end(), store_.weight_share(block).begin());
    } else {
      group_of(block).all_gather(kept, store_.weights(block), "optimizer.weights");
    }
  }
}

template <typename T>
OptimizerStep DistributedOptimizer<T>::step(double learning_rate) {
  scatter_gradients();
  sum_over_tensor_group();
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
