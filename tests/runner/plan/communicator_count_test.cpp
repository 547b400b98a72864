// Of how many communicators the plan has the memory.
#include "runner/plan/communicator_count.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "runner/parallel/loopback_communicator.h"
#include "runner/parallel/rank_groups.h"
#include "runner/plan/memory_plan.h"

namespace llmb::runner {
namespace {

int count_of(const ParallelSizes& sizes, int stage = 0, Backend backend = Backend::cuda) {
  RunSettings settings;
  settings.backend = backend;
  settings.sizes = sizes;
  return communicator_count(settings, stage);
}

TEST(CommunicatorCount, IsThatOfTheListsOfRanks) {
  EXPECT_EQ(count_of({}), 0);
  EXPECT_EQ(count_of({.dp = 2}), 1) << "data, stage and world are the same two ranks";
  EXPECT_EQ(count_of({.tp = 2, .dp = 2}), 3) << "tensor, data; stage and world";
  EXPECT_EQ(count_of({.pp = 2}), 3) << "the pipeline is the world, and has two directions";
  EXPECT_EQ(count_of({.tp = 4, .dp = 128, .ep = 128, .etp = 4}), 3);
  // Llama 3.1 405B: tensor, context, data x context, stage, pipeline, world; two directions.
  for (const int stage : {0, 7})
    EXPECT_EQ(count_of({.tp = 8, .cp = 2, .dp = 8, .pp = 8}, stage), 8);
}

TEST(CommunicatorCount, IsThatOfTheGroupsThatARankMakes) {
  const ParallelSizes sizes = {.tp = 2, .cp = 2, .dp = 4, .ep = 8, .etp = 1};
  const auto world = make_loopback_world(sizes.world());
  const auto layout = Layout::make(sizes, sizes.world());
  ASSERT_TRUE(layout);
  const RankGroups groups = make_rank_groups(*world, *layout);
  std::set<std::vector<int>> lists;
  for (const Communicator* group : groups.all()) {
    if (group->size() > 1) lists.insert(group->ranks());
  }
  EXPECT_EQ(lists.size(), 6U) << "tensor, context, data x context, expert, its data; world";
  EXPECT_EQ(count_of(sizes), static_cast<int>(lists.size()));
}

TEST(CommunicatorCount, IsNoneWhereNobodyTalksByDevice) {
  EXPECT_EQ(count_of({.dp = 2}, 0, Backend::cpu), 0);
  RunSettings settings;
  settings.backend = Backend::cuda;
  settings.sizes = {.dp = 2};
  settings.rank_slice = 0;
  EXPECT_EQ(communicator_count(settings, 0), 0);
}

TEST(StageBytes, HaveCommunicatorsBesideThePool) {
  StageBytes stage;
  stage.parameters = 1000;
  stage.communicators = 300;
  EXPECT_EQ(stage.total(), 1300);
  EXPECT_EQ(stage.pooled(), 1000);
}

}  // namespace
}  // namespace llmb::runner
