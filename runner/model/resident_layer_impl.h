// The definitions of resident_layer.h: included where a backend is put together, once.
#pragma once

#include "runner/model/resident_layer.h"
namespace llmb::runner {
namespace detail {

inline Communicator& group_of(RankGroups& groups, ParameterBlock block) {
  return is_expert(block) ? *groups.expert_data : *groups.data_context;
}

}  // namespace detail

template <typename Backend>
ResidentLayer<Backend>::ResidentLayer(typename Backend::Ops& ops, ParameterStore<Backend>& store,
                                      RankGroups& groups, std::int64_t layer, PassKind pass)
    : ops_(ops), store_(store), groups_(groups), layer_(layer) {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) {
    store_.make_whole(block, pass == PassKind::backward);
    detail::group_of(groups_, block)
        .all_gather(store_.weight_share(block), store_.weights(block), "fsdp.weights");
  }
}

template <typename Backend>
ResidentLayer<Backend>::~ResidentLayer() {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) store_.drop_whole(block);
}

template <typename Backend>
void ResidentLayer<Backend>::share_gradients() {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) {
    using Gradient = typename Backend::Gradient;
    const std::span<Gradient> share = store_.gradient_share(block);
    typename Backend::template Array<Gradient> sum(ops_, std::ssize(share));
    detail::group_of(groups_, block)
        .reduce_scatter(store_.gradients(block), sum.values(), "fsdp.gradients");
    ops_.add_gradients(sum.values(), share);
  }
}

}  // namespace llmb::runner
