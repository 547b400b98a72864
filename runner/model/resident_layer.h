// ResidentLayer: a layer's parameters, whole for as long as it lives. Where every rank has them
// anyway it does nothing; where they are fully sharded it gathers them from the ranks that share
// them, and gives them back when it ends.
#pragma once

#include <cstdint>

#include "runner/model/parameter_store.h"
#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

enum class PassKind : std::uint8_t { forward, backward };

template <typename Backend>
class ResidentLayer {
 public:
  // -1 and the layer count stand for what is before and after the layers. In a backward pass the
  // gradients begin at zero. All ranks that share the layer make theirs together.
  ResidentLayer(typename Backend::Ops& ops, ParameterStore<Backend>& store, RankGroups& groups,
                std::int64_t layer, PassKind pass);
  ~ResidentLayer();
  ResidentLayer(const ResidentLayer&) = delete;
  ResidentLayer& operator=(const ResidentLayer&) = delete;

  // At the end of a backward pass: adds this rank's share of the sum over all ranks.
  void share_gradients();

 private:
  typename Backend::Ops& ops_;
  ParameterStore<Backend>& store_;
  RankGroups& groups_;
  std::int64_t layer_;
};

}  // namespace llmb::runner
