#include "runner/parallel/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace llmb::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr GroupKind kKinds[] = {GroupKind::tensor,
                                GroupKind::context,
                                GroupKind::data,
                                GroupKind::data_context,
                                GroupKind::tensor_data_context,
                                GroupKind::pipeline,
                                GroupKind::expert,
                                GroupKind::expert_tensor,
                                GroupKind::expert_data,
                                GroupKind::world};

// Megatron-Core's documented example: 16 GPUs, tensor 2, pipeline 4, so data 2.
TEST(Layout, OrdersRanksAsMegatronDoes) {
  const auto layout = Layout::make({.tp = 2, .dp = 2, .pp = 4}, 16);
  ASSERT_TRUE(layout.has_value()) << layout.error().message;
  EXPECT_EQ(layout->groups(GroupKind::tensor),
            (std::vector<std::vector<int>>{
                {0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
  EXPECT_EQ(layout->groups(GroupKind::pipeline),
            (std::vector<std::vector<int>>{
                {0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}}));
  EXPECT_EQ(layout->groups(GroupKind::data),
            (std::vector<std::vector<int>>{
                {0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}));
}

TEST(Layout, FoldsExpertsOverTensorContextAndData) {
  const auto layout = Layout::make({.tp = 2, .cp = 2, .dp = 2, .pp = 2, .ep = 4, .etp = 1}, 16);
  ASSERT_TRUE(layout.has_value()) << layout.error().message;
  EXPECT_EQ(layout->sizes().edp(), 2);
  EXPECT_THAT(layout->group(GroupKind::expert, 5), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(layout->group(GroupKind::expert_data, 5), ElementsAre(1, 5));
  EXPECT_THAT(layout->group(GroupKind::data_context, 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(layout->group(GroupKind::context, 5), ElementsAre(5, 7));
  EXPECT_EQ(layout->place_of(13),
            (RankPlace{.tp = 1, .cp = 0, .dp = 1, .pp = 1, .etp = 0, .ep = 1, .edp = 1}));
}

TEST(Layout, EveryKindOfGroupPartitionsTheRanks) {
  for (const ParallelSizes sizes :
       {ParallelSizes{.tp = 2, .cp = 2, .dp = 4, .pp = 2, .ep = 2, .etp = 2},
        ParallelSizes{.tp = 3, .cp = 1, .dp = 2, .pp = 2, .ep = 6}}) {
    const auto layout = Layout::make(sizes, sizes.world());
    ASSERT_TRUE(layout.has_value()) << layout.error().message;
    for (const GroupKind kind : kKinds) {
      std::set<int> seen;
      for (const std::vector<int>& group : layout->groups(kind)) {
        for (const int rank : group) {
          EXPECT_TRUE(seen.insert(rank).second);
          EXPECT_EQ(layout->group(kind, rank), group) << group_kind_name(kind);
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(sizes.world())) << group_kind_name(kind);
    }
    for (int rank = 0; rank < sizes.world(); ++rank) {
      const RankPlace at = layout->place_of(rank);
      EXPECT_EQ(layout->rank_of(at.tp, at.cp, at.dp, at.pp), rank);
    }
  }
}

TEST(Layout, RefusesWithWhatWouldFit) {
  EXPECT_THAT(Layout::make({.tp = 4, .dp = 3}, 16).error().message, HasSubstr("dp 4 would fit"));
  EXPECT_THAT(Layout::make({.tp = 3}, 16).error().message, HasSubstr("multiple of 3"));
  EXPECT_THAT(Layout::make({.tp = 0}, 16).error().message, HasSubstr("at least 1"));
  EXPECT_THAT(Layout::make({.tp = 2, .dp = 2, .ep = 8}, 4).error().message,
              HasSubstr("must divide 4"));
}

TEST(Layout, ChunksHoldEveryLayerOnceInOrder) {
  struct Case {
    ParallelSizes sizes;
    std::int64_t layer_count;
  };
  for (const Case& c : {Case{{.pp = 4, .vp = 2}, 16}, Case{{.pp = 8, .vp = 8}, 126},
                        Case{{.pp = 1}, 3}, Case{{.pp = 2}, 4}, Case{{.pp = 2, .vp = 2}, 6}}) {
    std::int64_t next = 0;
    for (int chunk = 0; chunk < c.sizes.vp; ++chunk) {
      for (int stage = 0; stage < c.sizes.pp; ++stage) {
        const LayerRange range = layers_of(c.sizes, c.layer_count, stage, chunk);
        EXPECT_EQ(range.first, next);
        EXPECT_GT(range.size(), 0);
        next = range.last;
      }
    }
    EXPECT_EQ(next, c.layer_count);
  }
  EXPECT_EQ(layers_of({.pp = 8, .vp = 8}, 126, 0, 0), (LayerRange{0, 1}));
  EXPECT_EQ(layers_of({.pp = 8, .vp = 8}, 126, 7, 7), (LayerRange{125, 126}));
}

}  // namespace
}  // namespace llmb::runner
