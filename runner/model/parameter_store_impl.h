// The definitions of parameter_store.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "runner/model/parameter_store.h"
#include "runner/model/parameter_values.h"

namespace llmb::runner {
namespace detail {

inline std::int64_t product(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Where this rank's part begins on each axis.
inline std::vector<std::int64_t> origin_of(const Parameter& parameter,
                                           const std::vector<std::int64_t>& local_shape,
                                           const RankPlace& place) {
  std::vector<std::int64_t> origin(local_shape.size(), 0);
  if (parameter.tensor_axis) {
    const int index = parameter.is_expert() ? place.etp : place.tp;
    origin[*parameter.tensor_axis] = index * local_shape[*parameter.tensor_axis];
  }
  if (parameter.expert_axis) {
    origin[*parameter.expert_axis] = place.ep * local_shape[*parameter.expert_axis];
  }
  return origin;
}

}  // namespace detail

template <typename Backend>
std::int64_t LocalParameter<Backend>::element_count() const {
  return detail::product(local_shape);
}

// Where nothing is sharded, one block of each kind; else two for every layer, as layers come.
template <typename Backend>
ParameterBlock ParameterStore<Backend>::home_of(const Parameter& parameter) {
  const auto kind = static_cast<std::uint32_t>(parameter.is_expert() ? ParameterBlock::expert
                                                                     : ParameterBlock::dense);
  if (!is_sharded_) return static_cast<ParameterBlock>(kind);
  const auto unit = static_cast<std::uint32_t>(storage_.size() / 2);
  const auto [known, is_new] = blocks_of_layer_.try_emplace(parameter.layer);
  if (is_new) {
    storage_.resize(storage_.size() + 2);
    known->second = {static_cast<ParameterBlock>(2 * unit),
                     static_cast<ParameterBlock>(2 * unit + 1)};
  }
  return known->second[kind];
}

// Rounds blocks up, and says which part of each is this rank's.
template <typename Backend>
void ParameterStore<Backend>::share_out(const Layout& layout, int rank) {
  const auto place_in = [&](GroupKind kind) {
    const std::vector<int> ranks = layout.group(kind, rank);
    const auto mine = std::find(ranks.begin(), ranks.end(), rank);
    return std::pair(static_cast<std::int64_t>(ranks.size()),
                     static_cast<std::int64_t>(mine - ranks.begin()));
  };
  const std::array places = {place_in(GroupKind::data_context), place_in(GroupKind::expert_data)};
  blocks_.reserve(storage_.size());
  for (std::size_t i = 0; i < storage_.size(); ++i) {
    const auto& [sharers, index] = places[i % 2];
    Storage& block = storage_[i];
    block.size = padded_block_size(block.size, sharers);
    block.share_size = block.size / sharers;
    block.share_first = index * block.share_size;
    blocks_.push_back(static_cast<ParameterBlock>(i));
  }
}

template <typename Backend>
ParameterStore<Backend>::ParameterStore(typename Backend::Ops& ops, const ModelSpec& spec,
                                        const Layout& layout, int rank, ParameterSharding sharding)
    : ops_(ops), is_sharded_(sharding == ParameterSharding::full), storage_(is_sharded_ ? 0 : 2) {
  const ParallelSizes& sizes = layout.sizes();
  const RankPlace place = layout.place_of(rank);
  for (Parameter& parameter : parameters_of_rank(spec, layout, rank)) {
    LocalParameter<Backend> local;
    local.local_shape = local_shape(parameter, sizes.tp, sizes.etp, sizes.ep);
    local.origin = detail::origin_of(parameter, local.local_shape, place);
    local.home = home_of(parameter);
    Storage& home = storage(local.home);
    local.block_offset = home.size;
    home.size += detail::product(local.local_shape);
    home.parameters.push_back(parameters_.size());
    local.parameter = std::move(parameter);
    parameters_.push_back(std::move(local));
  }
  share_out(layout, rank);
  for (Storage& block : storage_) {
    if (is_sharded_) {
      block.weight_share.resize(ops_, block.share_size);
      block.gradient_share.resize(ops_, block.share_size);
    } else {
      block.weights.resize(ops_, block.size);
      block.gradients.resize(ops_, block.size);
    }
    ops_.fill(block.weights.values(), Value{});
    ops_.fill(block.weight_share.values(), Value{});
    point_parameters(block);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    by_name_.emplace(parameters_[i].parameter.name, i);
  }
  zero_gradients();
}

template <typename Backend>
void ParameterStore<Backend>::point_parameters(Storage& block) {
  for (const std::size_t index : block.parameters) {
    LocalParameter<Backend>& local = parameters_[index];
    const auto first = static_cast<std::size_t>(local.block_offset);
    const auto count = static_cast<std::size_t>(local.element_count());
    const auto part = [&](auto all) { return all.empty() ? all : all.subspan(first, count); };
    local.weight = part(block.weights.values());
    local.gradient = part(block.gradients.values());
  }
}

template <typename Backend>
std::span<const ParameterBlock> ParameterStore<Backend>::blocks_to_gather(
    std::int64_t layer) const {
  const auto known = blocks_of_layer_.find(layer);
  if (known == blocks_of_layer_.end()) return {};
  return known->second;
}

template <typename Backend>
void ParameterStore<Backend>::make_whole(ParameterBlock block, bool with_gradients) {
  Storage& home = storage(block);
  home.weights.resize(ops_, home.size);
  if (with_gradients) {
    home.gradients.resize(ops_, home.size);
    ops_.fill(home.gradients.values(), Gradient{});
  }
  point_parameters(home);
}

template <typename Backend>
void ParameterStore<Backend>::drop_whole(ParameterBlock block) {
  Storage& home = storage(block);
  home.weights.release();
  home.gradients.release();
  point_parameters(home);
}

template <typename Backend>
std::int64_t ParameterStore<Backend>::element_count() const {
  std::int64_t elements = 0;
  for (const Storage& block : storage_) elements += is_sharded_ ? block.share_size : block.size;
  return elements;
}

template <typename Backend>
const LocalParameter<Backend>& ParameterStore<Backend>::at(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw std::out_of_range("this rank holds no parameter " + std::string(name));
  }
  return parameters_[found->second];
}

template <typename Backend>
void ParameterStore<Backend>::initialize(const ModelSpec& spec, std::uint64_t seed) {
  std::vector<double> drawn;
  std::vector<Value> values;
  for (const LocalParameter<Backend>& local : parameters_) {
    drawn.resize(static_cast<std::size_t>(local.element_count()));
    draw_values<double>(local.parameter, local.local_shape, local.origin, spec, seed, 0, drawn);
    values.resize(drawn.size());
    std::transform(drawn.begin(), drawn.end(), values.begin(), Backend::value_of);
    ops_.template write<Value>(values, local.weight);
  }
}

template <typename Backend>
void ParameterStore<Backend>::zero_gradients() {
  for (Storage& block : storage_) {
    ops_.fill(block.gradients.values(), Gradient{});
    ops_.fill(block.gradient_share.values(), Gradient{});
  }
}

template <typename Backend>
void ParameterStore<Backend>::weights_changed() {
  if (is_sharded_) return;
  for (LocalParameter<Backend>& local : parameters_) ++local.weight_version;
}

}  // namespace llmb::runner
