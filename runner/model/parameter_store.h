// ParameterStore: one rank's weights and gradients. Each kind lies in two blocks without gaps,
// dense and expert, because their gradients are summed over different groups of ranks; a block is
// padded so that its group's ranks can share it out evenly.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/model/parameters.h"
#include "runner/parallel/layout.h"

namespace llmb::runner {

enum class ParameterBlock : std::uint8_t { dense, expert };
inline constexpr std::array<ParameterBlock, 2> kParameterBlocks = {ParameterBlock::dense,
                                                                   ParameterBlock::expert};

// One rank's part of a parameter: on every axis the indices [origin, origin + local_shape).
template <typename T>
struct LocalParameter {
  Parameter parameter;
  std::vector<std::int64_t> local_shape;
  std::vector<std::int64_t> origin;
  std::int64_t block_offset = 0;  // of its first element in the block
  std::span<T> weight;
  std::span<T> gradient;

  std::int64_t element_count() const { return static_cast<std::int64_t>(weight.size()); }
  ParameterBlock block() const {
    return parameter.is_expert() ? ParameterBlock::expert : ParameterBlock::dense;
  }
};

// Owns the memory; used by the rank's thread. T is float, or double for checks.
template <typename T>
class ParameterStore {
 public:
  // Those of every chunk of the rank's pipeline stage, all zero.
  ParameterStore(const ModelSpec& spec, const Layout& layout, int rank);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  // In the order of the forward pass. Weights and gradients may be written through it.
  std::span<const LocalParameter<T>> parameters() const { return parameters_; }
  // Throws std::out_of_range with the name where this rank has no such parameter.
  const LocalParameter<T>& at(std::string_view name) const;

  // A whole block, padding included; its size is a multiple of the group that reduces it.
  std::span<T> weights(ParameterBlock block) { return storage(block).weights; }
  std::span<T> gradients(ParameterBlock block) { return storage(block).gradients; }

  // The value of a weight depends on the seed, its name and its index in the whole tensor only.
  void initialize(const ModelSpec& spec, std::uint64_t seed);
  void zero_gradients();

 private:
  struct Storage {
    std::vector<T> weights;
    std::vector<T> gradients;
  };
  Storage& storage(ParameterBlock block) { return storage_[static_cast<std::size_t>(block)]; }

  std::vector<LocalParameter<T>> parameters_;
  std::unordered_map<std::string_view, std::size_t> by_name_;  // views into parameters_
  std::array<Storage, 2> storage_;
};

extern template class ParameterStore<float>;
extern template class ParameterStore<double>;

// The parameters that `rank` holds a part of: its chunks' layers, the embedding on the first stage,
// final norm and head on the last.
std::vector<Parameter> parameters_of_rank(const ModelSpec& spec, const Layout& layout, int rank);

}  // namespace llmb::runner
