#include "runner/model/parameter_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "runner/data/counter_random.h"

namespace llmb::runner {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::int64_t product(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Where this rank's part begins on each axis.
std::vector<std::int64_t> origin_of(const Parameter& parameter,
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

double standard_deviation(const ModelSpec& spec, Initialization initialization) {
  if (initialization == Initialization::normal) return spec.initial_std;
  return spec.initial_std / std::sqrt(2.0 * static_cast<double>(spec.shape.layer_count));
}

template <typename T>
void fill_normal(const LocalParameter<T>& local, std::uint64_t key, double deviation) {
  const std::vector<std::int64_t>& shape = local.local_shape;
  const std::int64_t row_length = shape.back();
  const std::int64_t rows = local.element_count() / std::max<std::int64_t>(row_length, 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    // The index of the row's first element in the whole tensor.
    std::int64_t rest = row;
    std::int64_t stride = local.parameter.shape.back();
    std::int64_t first = local.origin.back();
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
      first += (rest % shape[axis] + local.origin[axis]) * stride;
      rest /= shape[axis];
      stride *= local.parameter.shape[axis];
    }
    for (std::int64_t i = 0; i < row_length; ++i) {
      local.weight[static_cast<std::size_t>(row * row_length + i)] =
          static_cast<T>(deviation * normal_at(key, static_cast<std::uint64_t>(first + i)));
    }
  }
}

}  // namespace

std::vector<Parameter> parameters_of_rank(const ModelSpec& spec, const Layout& layout, int rank) {
  const ParallelSizes& sizes = layout.sizes();
  const int stage = layout.place_of(rank).pp;
  const std::int64_t layer_count = spec.shape.layer_count;
  std::vector<Parameter> mine;
  std::vector<Parameter> all = model_parameters(spec);
  std::copy_if(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
               std::back_inserter(mine), [&](const Parameter& parameter) {
                 if (parameter.layer < 0) return stage == 0;
                 if (parameter.layer >= layer_count) return stage == sizes.pp - 1;
                 for (int chunk = 0; chunk < sizes.vp; ++chunk) {
                   const LayerRange range = layers_of(sizes, layer_count, stage, chunk);
                   if (parameter.layer >= range.first && parameter.layer < range.last) return true;
                 }
                 return false;
               });
  return mine;
}

template <typename T>
std::int64_t LocalParameter<T>::element_count() const {
  return product(local_shape);
}

// Where nothing is sharded, one block of each kind; else two for every layer, as layers come.
template <typename T>
ParameterBlock ParameterStore<T>::home_of(const Parameter& parameter) {
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
template <typename T>
void ParameterStore<T>::share_out(const Layout& layout, int rank) {
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
    block.size = round_up(block.size, sharers);
    block.share_size = block.size / sharers;
    block.share_first = index * block.share_size;
    blocks_.push_back(static_cast<ParameterBlock>(i));
  }
}

template <typename T>
ParameterStore<T>::ParameterStore(const ModelSpec& spec, const Layout& layout, int rank,
                                  ParameterSharding sharding)
    : is_sharded_(sharding == ParameterSharding::full), storage_(is_sharded_ ? 0 : 2) {
  const ParallelSizes& sizes = layout.sizes();
  const RankPlace place = layout.place_of(rank);
  for (Parameter& parameter : parameters_of_rank(spec, layout, rank)) {
    LocalParameter<T> local;
    local.local_shape = local_shape(parameter, sizes.tp, sizes.etp, sizes.ep);
    local.origin = origin_of(parameter, local.local_shape, place);
    local.home = home_of(parameter);
    Storage& home = storage(local.home);
    local.block_offset = home.size;
    home.size += product(local.local_shape);
    home.parameters.push_back(parameters_.size());
    local.parameter = std::move(parameter);
    parameters_.push_back(std::move(local));
  }
  share_out(layout, rank);
  for (Storage& block : storage_) {
    if (is_sharded_) {
      block.weight_share.assign(static_cast<std::size_t>(block.share_size), T{0});
      block.gradient_share.assign(static_cast<std::size_t>(block.share_size), T{0});
    } else {
      block.weights.assign(static_cast<std::size_t>(block.size), T{0});
      block.gradients.assign(static_cast<std::size_t>(block.size), T{0});
    }
    point_parameters(block);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    by_name_.emplace(parameters_[i].parameter.name, i);
  }
}

template <typename T>
void ParameterStore<T>::point_parameters(Storage& block) {
  for (const std::size_t index : block.parameters) {
    LocalParameter<T>& local = parameters_[index];
    const auto first = static_cast<std::size_t>(local.block_offset);
    const auto count = static_cast<std::size_t>(local.element_count());
    const auto part = [&](std::vector<T>& all) {
      return all.empty() ? std::span<T>() : std::span(all).subspan(first, count);
    };
    local.weight = part(block.weights);
    local.gradient = part(block.gradients);
  }
}

template <typename T>
std::span<T> ParameterStore<T>::weight_share(ParameterBlock block) {
  Storage& home = storage(block);
  if (is_sharded_) return home.weight_share;
  return std::span(home.weights)
      .subspan(static_cast<std::size_t>(home.share_first),
               static_cast<std::size_t>(home.share_size));
}

template <typename T>
std::span<const ParameterBlock> ParameterStore<T>::blocks_to_gather(std::int64_t layer) const {
  const auto known = blocks_of_layer_.find(layer);
  if (known == blocks_of_layer_.end()) return {};
  return known->second;
}

template <typename T>
void ParameterStore<T>::make_whole(ParameterBlock block, bool with_gradients) {
  Storage& home = storage(block);
  home.weights.resize(static_cast<std::size_t>(home.size));
  if (with_gradients) home.gradients.assign(static_cast<std::size_t>(home.size), T{0});
  point_parameters(home);
}

template <typename T>
void ParameterStore<T>::drop_whole(ParameterBlock block) {
  Storage& home = storage(block);
  std::vector<T>().swap(home.weights);
  std::vector<T>().swap(home.gradients);
  point_parameters(home);
}

template <typename T>
std::int64_t ParameterStore<T>::weight_bytes() const {
  std::int64_t elements = 0;
  for (const Storage& block : storage_) elements += is_sharded_ ? block.share_size : block.size;
  return elements * std::int64_t{sizeof(T)};
}

template <typename T>
std::int64_t ParameterStore<T>::gradient_bytes() const {
  return weight_bytes();
}

template <typename T>
const LocalParameter<T>& ParameterStore<T>::at(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw std::out_of_range("this rank holds no parameter " + std::string(name));
  }
  return parameters_[found->second];
}

namespace {

template <typename T>
void fill(const LocalParameter<T>& local, const ModelSpec& spec, std::uint64_t seed) {
  const Initialization initialization = local.parameter.initialization;
  if (initialization == Initialization::ones || initialization == Initialization::zeros) {
    const T value = initialization == Initialization::ones ? T{1} : T{0};
    std::fill(local.weight.begin(), local.weight.end(), value);
    return;
  }
  const std::uint64_t key = combine_key(key_of(local.parameter.name), seed);
  fill_normal(local, key, standard_deviation(spec, initialization));
}

}  // namespace

template <typename T>
void ParameterStore<T>::initialize(const ModelSpec& spec, std::uint64_t seed) {
  for (const ParameterBlock block : blocks_) {
    Storage& home = storage(block);
    if (is_sharded_) make_whole(block, false);
    for (const std::size_t index : home.parameters) fill(parameters_[index], spec, seed);
    if (!is_sharded_) continue;
    std::copy_n(home.weights.begin() + home.share_first, home.share_size,
                home.weight_share.begin());
    drop_whole(block);
  }
}

template <typename T>
void ParameterStore<T>::zero_gradients() {
  for (Storage& block : storage_) {
    std::fill(block.gradients.begin(), block.gradients.end(), T{0});
    std::fill(block.gradient_share.begin(), block.gradient_share.end(), T{0});
  }
}

template struct LocalParameter<float>;
template struct LocalParameter<double>;
template class ParameterStore<float>;
template class ParameterStore<double>;

}  // namespace llmb::runner
