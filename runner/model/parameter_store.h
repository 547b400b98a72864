// ParameterStore: one rank's weights and gradients. Each kind lies in two blocks without gaps,
// dense and expert, because their gradients are summed over different groups of ranks; a block is
// padded so that its group's ranks have even, aligned shares of it. Fully sharded, every layer has
// two blocks of its own, of which a rank keeps its share, and the whole only while it is at work.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/model/parameters.h"
#include "runner/parallel/layout.h"

namespace llmb::runner {

// Even: dense; odd: experts. Where nothing is sharded there are these two, else two for each layer.
enum class ParameterBlock : std::uint32_t { dense, expert };
inline constexpr std::array<ParameterBlock, 2> kParameterBlocks = {ParameterBlock::dense,
                                                                   ParameterBlock::expert};
inline bool is_expert(ParameterBlock block) {
  return static_cast<std::uint32_t>(block) % 2 == 1;
}

enum class ParameterSharding : std::uint8_t { none, full };

// One rank's part of a parameter: on every axis the indices [origin, origin + local_shape).
template <typename Backend>
struct LocalParameter {
  Parameter parameter;
  std::vector<std::int64_t> local_shape;
  std::vector<std::int64_t> origin;
  ParameterBlock home = ParameterBlock::dense;
  std::int64_t block_offset = 0;  // of its first element in the block
  // In the backend's memory; empty while the block is sharded away.
  std::span<typename Backend::Value> weight;
  std::span<typename Backend::Gradient> gradient;
  // Goes up with every change of the weights, so that copies of older ones are known. 0 where they
  // come and go with their layer's passes: nothing is to be kept of those.
  std::int64_t weight_version = 0;

  std::int64_t element_count() const;
  ParameterBlock block() const { return home; }
};

// Owns the memory; used by the rank's thread.
template <typename Backend>
class ParameterStore {
 public:
  using Value = typename Backend::Value;
  using Gradient = typename Backend::Gradient;

  // Those of every chunk of the rank's pipeline stage, all zero. `ops` outlives it.
  ParameterStore(typename Backend::Ops& ops, const ModelSpec& spec, const Layout& layout, int rank,
                 ParameterSharding sharding = ParameterSharding::none);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  // In the order of the forward pass. Weights and gradients may be written through it.
  std::span<const LocalParameter<Backend>> parameters() const { return parameters_; }
  // Throws std::out_of_range with the name where this rank has no such parameter.
  const LocalParameter<Backend>& at(std::string_view name) const;

  std::span<const ParameterBlock> blocks() const { return blocks_; }
  bool is_sharded() const { return is_sharded_; }

  // A whole block, padding included; its size is a multiple of the group that reduces it. Empty
  // while it is sharded away.
  std::span<Value> weights(ParameterBlock block) { return storage(block).weights.values(); }
  std::span<Gradient> gradients(ParameterBlock block) { return storage(block).gradients.values(); }

  // This rank's share of the weights, and of the gradients: fully sharded, what it keeps, else its
  // part of the whole block.
  std::span<Value> weight_share(ParameterBlock block) {
    return share_of(block, storage(block).weight_share, storage(block).weights);
  }
  std::span<Gradient> gradient_share(ParameterBlock block) {
    return share_of(block, storage(block).gradient_share, storage(block).gradients);
  }
  std::int64_t share_first(ParameterBlock block) const { return storage(block).share_first; }
  std::int64_t share_size(ParameterBlock block) const { return storage(block).share_size; }

  // The blocks that a layer's pass has to gather; none where nothing is sharded.
  std::span<const ParameterBlock> blocks_to_gather(std::int64_t layer) const;
  // Room for the whole block: weights unset, gradients (if wanted) zero.
  void make_whole(ParameterBlock block, bool with_gradients);
  void drop_whole(ParameterBlock block);

  // Bytes that stay from step to step.
  std::int64_t weight_bytes() const { return element_count() * std::int64_t{sizeof(Value)}; }
  std::int64_t gradient_bytes() const { return element_count() * std::int64_t{sizeof(Gradient)}; }

  // Draws the weights (parameter_values.h) of a model that is computed without an optimizer, which
  // draws its own. Not of one that is fully sharded.
  void initialize(const ModelSpec& spec, std::uint64_t seed);
  void zero_gradients();

  // After weights were written.
  void weights_changed();

 private:
  struct Storage {
    std::int64_t size = 0;  // padding included
    std::int64_t share_first = 0;
    std::int64_t share_size = 0;
    std::vector<std::size_t> parameters;  // indices of those that lie here
    typename Backend::template Array<Value> weights;
    typename Backend::template Array<Gradient> gradients;
    typename Backend::template Array<Value> weight_share;  // only where sharded
    typename Backend::template Array<Gradient> gradient_share;
  };
  Storage& storage(ParameterBlock block) { return storage_[static_cast<std::size_t>(block)]; }
  const Storage& storage(ParameterBlock block) const {
    return storage_[static_cast<std::size_t>(block)];
  }
  template <typename Elements>
  auto share_of(ParameterBlock block, Elements& kept, Elements& whole) {
    if (is_sharded_) return kept.values();
    return whole.values().subspan(static_cast<std::size_t>(share_first(block)),
                                  static_cast<std::size_t>(share_size(block)));
  }
  std::int64_t element_count() const;
  ParameterBlock home_of(const Parameter& parameter);
  void share_out(const Layout& layout, int rank);
  void point_parameters(Storage& block);

  typename Backend::Ops& ops_;
  bool is_sharded_;
  std::vector<LocalParameter<Backend>> parameters_;
  std::unordered_map<std::string_view, std::size_t> by_name_;  // views into parameters_
  std::vector<Storage> storage_;                               // by block
  std::vector<ParameterBlock> blocks_;
  std::map<std::int64_t, std::vector<ParameterBlock>> blocks_of_layer_;  // only where sharded
};

// The parameters that `rank` holds a part of: its chunks' layers, the embedding on the first stage,
// final norm and head on the last.
std::vector<Parameter> parameters_of_rank(const ModelSpec& spec, const Layout& layout, int rank);

}  // namespace llmb::runner
