#include "runner/model/resident_layer.h"

namespace llmb::runner {
namespace {

Communicator& group_of(RankGroups& groups, ParameterBlock block) {
  return is_expert(block) ? *groups.expert_data : *groups.data_context;
}

}  // namespace

template <typename T>
ResidentLayer<T>::ResidentLayer(ParameterStore<T>& store, RankGroups& groups, std::int64_t layer,
                                PassKind pass)
    : store_(store), groups_(groups), layer_(layer) {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) {
    store_.make_whole(block, pass == PassKind::backward);
    group_of(groups_, block)
        .all_gather(store_.weight_share(block), store_.weights(block), "fsdp.weights");
  }
}

template <typename T>
ResidentLayer<T>::~ResidentLayer() {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) store_.drop_whole(block);
}

template <typename T>
void ResidentLayer<T>::share_gradients() {
  for (const ParameterBlock block : store_.blocks_to_gather(layer_)) {
    std::vector<T> sum(store_.gradient_share(block).size());
    group_of(groups_, block).reduce_scatter(store_.gradients(block), sum, "fsdp.gradients");
    const std::span<T> share = store_.gradient_share(block);
    for (std::size_t i = 0; i < sum.size(); ++i) share[i] += sum[i];
  }
}

template class ResidentLayer<float>;
template class ResidentLayer<double>;

}  // namespace llmb::runner
