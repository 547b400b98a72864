#include "runner/parallel/rank_groups.h"

#include <string>

namespace llmb::runner {

std::vector<Communicator*> RankGroups::all() const {
  std::vector<Communicator*> communicators;
  communicators.reserve(kGroupsOfARank.size());
  for (const GroupOfARank& one : kGroupsOfARank) communicators.push_back((this->*one.group).get());
  return communicators;
}

RankGroups make_rank_groups(World& world, const Layout& layout) {
  RankGroups groups;
  for (const GroupOfARank& one : kGroupsOfARank) {
    groups.*one.group = world.make_group(std::string(group_kind_name(one.kind)),
                                         layout.group(one.kind, world.rank()));
  }
  groups.own_host = world.make_host_group();
  return groups;
}

}  // namespace llmb::runner
