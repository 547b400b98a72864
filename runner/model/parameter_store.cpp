#include "runner/model/parameter_store.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "runner/data/counter_random.h"

namespace llmb::runner {
namespace {

ParameterBlock block_of(const Parameter& parameter) {
  return parameter.is_expert() ? ParameterBlock::expert : ParameterBlock::dense;
}

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
ParameterStore<T>::ParameterStore(const ModelSpec& spec, const Layout& layout, int rank) {
  const ParallelSizes& sizes = layout.sizes();
  const RankPlace place = layout.place_of(rank);
  std::array<std::int64_t, 2> used = {0, 0};
  for (Parameter& parameter : parameters_of_rank(spec, layout, rank)) {
    LocalParameter<T> local;
    local.local_shape = local_shape(parameter, sizes.tp, sizes.etp, sizes.ep);
    local.origin = origin_of(parameter, local.local_shape, place);
    std::int64_t& offset = used[static_cast<std::size_t>(block_of(parameter))];
    local.block_offset = offset;
    offset += product(local.local_shape);
    local.parameter = std::move(parameter);
    parameters_.push_back(std::move(local));
  }
  const std::array<std::int64_t, 2> sharers = {std::int64_t{sizes.dp} * sizes.cp, sizes.edp()};
  for (std::size_t block = 0; block < storage_.size(); ++block) {
    const auto size = static_cast<std::size_t>(round_up(used[block], sharers[block]));
    storage_[block].weights.assign(size, T{0});
    storage_[block].gradients.assign(size, T{0});
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    LocalParameter<T>& local = parameters_[i];
    Storage& home = storage(block_of(local.parameter));
    const auto first = static_cast<std::size_t>(local.block_offset);
    const auto count = static_cast<std::size_t>(product(local.local_shape));
    local.weight = std::span(home.weights).subspan(first, count);
    local.gradient = std::span(home.gradients).subspan(first, count);
    by_name_.emplace(local.parameter.name, i);
  }
}

template <typename T>
const LocalParameter<T>& ParameterStore<T>::at(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw std::out_of_range("this rank holds no parameter " + std::string(name));
  }
  return parameters_[found->second];
}

template <typename T>
void ParameterStore<T>::initialize(const ModelSpec& spec, std::uint64_t seed) {
  for (const LocalParameter<T>& local : parameters_) {
    const Initialization initialization = local.parameter.initialization;
    if (initialization == Initialization::ones || initialization == Initialization::zeros) {
      const T value = initialization == Initialization::ones ? T{1} : T{0};
      std::fill(local.weight.begin(), local.weight.end(), value);
      continue;
    }
    const std::uint64_t key = combine_key(key_of(local.parameter.name), seed);
    fill_normal(local, key, standard_deviation(spec, initialization));
  }
}

template <typename T>
void ParameterStore<T>::zero_gradients() {
  for (Storage& block : storage_) {
    std::fill(block.gradients.begin(), block.gradients.end(), T{0});
  }
}

template class ParameterStore<float>;
template class ParameterStore<double>;

}  // namespace llmb::runner
