#include "runner/parallel/rank_groups.h"

#include <string>

namespace llmb::runner {

std::vector<Communicator*> RankGroups::all() const {
  return {tensor.get(),      context.get(), data_context.get(), expert.get(), expert_tensor.get(),
          expert_data.get(), stage.get(),   pipeline.get(),     world.get()};
}

RankGroups make_rank_groups(World& world, const Layout& layout) {
  const auto make = [&](GroupKind kind) {
    return world.make_group(std::string(group_kind_name(kind)), layout.group(kind, world.rank()));
  };
  RankGroups groups;
  groups.tensor = make(GroupKind::tensor);
  groups.context = make(GroupKind::context);
  groups.data_context = make(GroupKind::data_context);
  groups.expert = make(GroupKind::expert);
  groups.expert_tensor = make(GroupKind::expert_tensor);
  groups.expert_data = make(GroupKind::expert_data);
  groups.stage = make(GroupKind::tensor_data_context);
  groups.pipeline = make(GroupKind::pipeline);
  groups.world = make(GroupKind::world);
  groups.own_host = world.make_host_group();
  return groups;
}

}  // namespace llmb::runner
