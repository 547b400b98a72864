// RankGroups: the communicators of one rank, one for every kind of group that training talks in.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "runner/parallel/communicator.h"
#include "runner/parallel/layout.h"

namespace llmb::runner {

struct RankGroups {
  std::unique_ptr<Communicator> tensor;        // also sequence parallel
  std::unique_ptr<Communicator> context;       // keys and values
  std::unique_ptr<Communicator> data_context;  // gradients of the dense parameters
  std::unique_ptr<Communicator> expert;        // tokens to their experts
  std::unique_ptr<Communicator> expert_tensor;
  std::unique_ptr<Communicator> expert_data;  // gradients of the experts
  std::unique_ptr<Communicator> stage;        // tensor x data x context: one pipeline stage
  std::unique_ptr<Communicator> pipeline;
  std::unique_ptr<Communicator> world;
  std::unique_ptr<Communicator> own_host;  // World::make_host_group

  // All ranks, for buffers on the host.
  Communicator& host() const { return own_host ? *own_host : *world; }
  std::vector<Communicator*> all() const;
};

// Which kind of group each talks in, in the order that they are made in.
struct GroupOfARank {
  GroupKind kind;
  std::unique_ptr<Communicator> RankGroups::*group;
};
inline constexpr std::array<GroupOfARank, 9> kGroupsOfARank = {{
    {GroupKind::tensor, &RankGroups::tensor},
    {GroupKind::context, &RankGroups::context},
    {GroupKind::data_context, &RankGroups::data_context},
    {GroupKind::expert, &RankGroups::expert},
    {GroupKind::expert_tensor, &RankGroups::expert_tensor},
    {GroupKind::expert_data, &RankGroups::expert_data},
    {GroupKind::tensor_data_context, &RankGroups::stage},
    {GroupKind::pipeline, &RankGroups::pipeline},
    {GroupKind::world, &RankGroups::world},
}};

// Every rank of the world makes its own, in the same order: where devices join, they wait for each
// other.
RankGroups make_rank_groups(World& world, const Layout& layout);

}  // namespace llmb::runner
