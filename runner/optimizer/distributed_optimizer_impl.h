// The definitions of distributed_optimizer.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <cmath>

#include "runner/model/parameter_values.h"
#include "runner/optimizer/distributed_optimizer.h"

namespace llmb::runner {
namespace detail {

// The part of one parameter that lies in a share of its block.
struct Overlap {
  std::size_t in_shard = 0;
  std::int64_t in_parameter = 0;
  std::size_t count = 0;
};

template <typename Backend>
Overlap overlap_of(const LocalParameter<Backend>& local, const OptimizerShard<Backend>& shard) {
  const std::int64_t shard_end = shard.first + shard.master.size();
  const std::int64_t begin = std::max(local.block_offset, shard.first);
  const std::int64_t end = std::min(local.block_offset + local.element_count(), shard_end);
  if (begin >= end) return {};
  return {static_cast<std::size_t>(begin - shard.first), begin - local.block_offset,
          static_cast<std::size_t>(end - begin)};
}

}  // namespace detail

template <typename Backend>
DistributedOptimizer<Backend>::DistributedOptimizer(typename Backend::Ops& ops,
                                                    ParameterStore<Backend>& store,
                                                    const RankGroups& groups,
                                                    OptimizerSettings settings)
    : ops_(ops),
      store_(store),
      groups_(groups),
      settings_(settings),
      counts_whole_parameters_(groups.tensor->rank() == 0) {
  shards_.resize(store.blocks().size());
  for (const ParameterBlock block : store.blocks()) {
    OptimizerShard<Backend>& mine = shard(block);
    mine.first = store.share_first(block);
    for (auto* states : {&mine.master, &mine.first_moment, &mine.second_moment}) {
      states->resize(ops_, store.share_size(block));
      ops_.fill(states->values(), Master{});
    }
  }
}

template <typename Backend>
void DistributedOptimizer<Backend>::draw_weights(const ModelSpec& spec, std::uint64_t seed) {
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<Master> drawn(kPiece);
  for (const LocalParameter<Backend>& local : store_.parameters()) {
    OptimizerShard<Backend>& mine = shard(local.block());
    const detail::Overlap overlap = detail::overlap_of(local, mine);
    for (std::size_t first = 0; first < overlap.count; first += kPiece) {
      const std::span<Master> piece =
          std::span(drawn).first(std::min(kPiece, overlap.count - first));
      draw_values<Master>(local.parameter, local.local_shape, local.origin, spec, seed,
                          overlap.in_parameter + static_cast<std::int64_t>(first), piece);
      ops_.template write<Master>(
          piece, mine.master.values().subspan(overlap.in_shard + first, piece.size()));
    }
  }
  gather_weights();  // the model begins with weights that are rounded as they will be
}

template <typename Backend>
Communicator& DistributedOptimizer<Backend>::group_of(ParameterBlock block) const {
  return is_expert(block) ? *groups_.expert_data : *groups_.data_context;
}

template <typename Backend>
std::int64_t DistributedOptimizer<Backend>::state_bytes() const {
  std::int64_t elements = 0;
  for (const OptimizerShard<Backend>& part : shards_) elements += 3 * part.master.size();
  return elements * std::int64_t{sizeof(Master)};
}

// A parameter that every rank of a tensor group holds whole saw only that rank's tokens. The shares
// of a tensor group's ranks are of the same elements.
template <typename Backend>
void DistributedOptimizer<Backend>::sum_over_tensor_group() {
  if (groups_.tensor->size() == 1) return;
  std::vector<std::span<Gradient>> parts;
  parts.reserve(store_.parameters().size());
  std::int64_t count = 0;
  for (const LocalParameter<Backend>& local : store_.parameters()) {
    if (local.parameter.tensor_axis) continue;
    const detail::Overlap overlap = detail::overlap_of(local, shard(local.block()));
    parts.push_back(store_.gradient_share(local.block()).subspan(overlap.in_shard, overlap.count));
    count += std::ssize(parts.back());
  }
  typename Backend::template Array<Gradient> packed(ops_, count);
  const auto each_part = [&](const auto& visit) {
    std::size_t at = 0;
    for (const std::span<Gradient> part : parts) {
      visit(part, packed.values().subspan(at, part.size()));
      at += part.size();
    }
  };
  each_part([&](std::span<Gradient> part, std::span<Gradient> place) {
    ops_.template copy_elements<Gradient>(part, place);
  });
  groups_.tensor->all_reduce(packed.values(), ReduceOp::sum, "optimizer.whole_gradients");
  each_part([&](std::span<Gradient> part, std::span<Gradient> place) {
    ops_.template copy_elements<Gradient>(place, part);
  });
}

// In place. Fully sharded gradients were scattered layer by layer.
template <typename Backend>
void DistributedOptimizer<Backend>::scatter_gradients() {
  if (store_.is_sharded()) return;
  for (const ParameterBlock block : store_.blocks()) {
    if (group_of(block).size() == 1) continue;
    group_of(block).reduce_scatter(store_.gradients(block), store_.gradient_share(block),
                                   "optimizer.gradients");
  }
}

template <typename Backend>
OptimizerStretch<Backend> DistributedOptimizer<Backend>::stretch_of(
    const LocalParameter<Backend>& local) {
  OptimizerShard<Backend>& mine = shard(local.block());
  const detail::Overlap overlap = detail::overlap_of(local, mine);
  const auto part = [&](auto all) { return all.subspan(overlap.in_shard, overlap.count); };
  return {part(store_.gradient_share(local.block())), part(mine.master.values()),
          part(mine.first_moment.values()), part(mine.second_moment.values()),
          local.parameter.has_weight_decay()};
}

// Over the elements of this rank's shares that no other rank counts, then over all ranks.
template <typename Backend>
Totals<Backend> DistributedOptimizer<Backend>::norm_and_clip() {
  std::vector<Stretch> counted;
  for (const LocalParameter<Backend>& local : store_.parameters()) {
    if (!local.parameter.tensor_axis && !counts_whole_parameters_) continue;
    counted.push_back(stretch_of(local));
    if (counted.back().gradients.empty()) counted.pop_back();
  }
  Totals<Backend> sum(ops_, 1, 1);
  ops_.fill(sum.values(), 0);
  ops_.template add_sum_of_squares<Stretch>(counted, sum);
  groups_.world->all_reduce(sum.values(), ReduceOp::sum, "optimizer.gradient_norm");
  Totals<Backend> norm_and_scale(ops_, 1, 2);
  ops_.norm_and_clip(sum.view(), settings_.gradient_norm_max, norm_and_scale);
  return norm_and_scale;
}

template <typename Backend>
void DistributedOptimizer<Backend>::update(double learning_rate,
                                           TotalsView<Backend> norm_and_scale) {
  ++update_count_;
  AdamWSettings settings = settings_.adamw;
  settings.learning_rate = learning_rate;
  std::vector<Stretch> stretches;
  for (const LocalParameter<Backend>& local : store_.parameters()) {
    stretches.push_back(stretch_of(local));
    if (stretches.back().gradients.empty()) stretches.pop_back();
  }
  ops_.template adamw<Stretch>(settings, update_count_, norm_and_scale, stretches);
}

// In place. Fully sharded weights are gathered by whoever works with them.
template <typename Backend>
void DistributedOptimizer<Backend>::gather_weights() {
  for (const ParameterBlock block : store_.blocks()) {
    const std::span<typename Backend::Value> share = store_.weight_share(block);
    ops_.cast_weights(shard(block).master.values(), settings_.has_narrow_weights, share);
    if (store_.is_sharded() || group_of(block).size() == 1) continue;
    group_of(block).all_gather(share, store_.weights(block), "optimizer.weights");
  }
  store_.weights_changed();
}

template <typename Backend>
OptimizerStep DistributedOptimizer<Backend>::step(double learning_rate) {
  scatter_gradients();
  sum_over_tensor_group();
  Totals<Backend> norm_and_scale = norm_and_clip();
  update(learning_rate, norm_and_scale);
  gather_weights();
  // The one place of an update where the host waits for the backend.
  OptimizerStep result;
  result.gradient_norm = ops_.read(norm_and_scale.values()).values()[0];
  result.is_updated = std::isfinite(result.gradient_norm);
  if (!result.is_updated) --update_count_;
  return result;
}

template <typename Backend>
void DistributedOptimizer<Backend>::restored(std::int64_t update_count) {
  update_count_ = update_count;
  gather_weights();
}

}  // namespace llmb::runner
