// Which directories have a watch where there are more directories than watches.
#include "server/ingest/watch_plan.h"

#include <gtest/gtest.h>

namespace llmb::ingest {
namespace {

TEST(WatchPlan, TakesWhatComesWhileThereIsRoom) {
  const auto allowance = std::make_shared<WatchAllowance>(2);
  WatchPlan plan(allowance);
  EXPECT_TRUE(plan.offer(1, 10).is_chosen);
  EXPECT_TRUE(plan.offer(2, 5).is_chosen);
  EXPECT_TRUE(plan.offer(2, 6).is_chosen) << "it has one already";
  EXPECT_EQ(plan.size(), 2U);
}

TEST(WatchPlan, GivesTheWatchOfTheLeastActiveToOneThatWasActiveLater) {
  WatchPlan plan(std::make_shared<WatchAllowance>(2));
  plan.offer(1, 10);
  plan.offer(2, 5);
  EXPECT_FALSE(plan.would_evict_for(5));
  EXPECT_FALSE(plan.offer(3, 4).is_chosen);
  EXPECT_TRUE(plan.would_evict_for(7));
  const auto choice = plan.offer(3, 7);
  EXPECT_TRUE(choice.is_chosen);
  EXPECT_EQ(choice.evicted, 2U);
  plan.offer(3, 20);
  EXPECT_EQ(plan.offer(4, 15).evicted, 1U) << "1 is now the least active";
}

TEST(WatchPlan, TakesTheWatchOfOneThatWasSetBackFirst) {
  WatchPlan plan(std::make_shared<WatchAllowance>(2));
  plan.offer(1, 10);
  plan.offer(2, 20);
  EXPECT_FALSE(plan.would_evict_for(5));
  plan.set(2, -100);
  plan.set(7, 100);  // it has none
  EXPECT_EQ(plan.size(), 2U);
  EXPECT_TRUE(plan.would_evict_for(5));
  EXPECT_EQ(plan.offer(3, 5).evicted, 2U);
  plan.set(1, -100);
  plan.offer(1, 30);
  EXPECT_EQ(plan.offer(4, 25).evicted, 3U) << "1 was active since it was set back";
}

TEST(WatchPlan, SharesOneAllowanceAmongRoots) {
  const auto allowance = std::make_shared<WatchAllowance>(3);
  WatchPlan large(allowance);
  WatchPlan small(allowance);
  for (DirectoryIndex i = 0; i < 3; ++i) EXPECT_TRUE(large.offer(i, 1).is_chosen);
  EXPECT_FALSE(small.offer(0, 100).is_chosen) << "it has none to take one from";
  large.remove(1);
  EXPECT_TRUE(small.offer(0, 100).is_chosen);
  EXPECT_FALSE(large.offer(1, 1).is_chosen);
  small.clear();
  EXPECT_TRUE(large.offer(1, 1).is_chosen);
}

TEST(WatchPlan, LeavesWatchesToTheUsersOtherPrograms) {
  EXPECT_EQ(watches_of_limit(0), 0U);
  EXPECT_EQ(watches_of_limit(8'192), 6'144U);
  EXPECT_EQ(watches_of_limit(1'048'576), 1'032'192U);
}

TEST(WatchPlan, AdvisesALimitThatGivesEachDirectoryAWatch) {
  const WatchUse few{6'144, 401'002, 0.08};
  const auto advice = advice_on_watches(few);
  ASSERT_TRUE(advice);
  EXPECT_NE(advice->find("6144 of 401002 folders"), std::string::npos) << *advice;
  EXPECT_NE(advice->find("takes 8 % of a core"), std::string::npos) << *advice;
  const auto limit_at = advice->find('=') + 1;
  EXPECT_GE(watches_of_limit(std::stoull(advice->substr(limit_at))), few.directories) << *advice;
  EXPECT_FALSE(advice_on_watches({6'144, 401'002, 0.02})) << "it costs little";
  EXPECT_FALSE(advice_on_watches({401'002, 401'002, 0.08})) << "each has one";
}

TEST(WatchPlan, MakesNoMoreWhereTheKernelRefused) {
  WatchPlan plan(std::make_shared<WatchAllowance>(100));
  plan.offer(1, 10);
  plan.offer(2, 11);
  plan.remove(2);
  plan.stop_growing();
  EXPECT_FALSE(plan.offer(3, 9).is_chosen);
  EXPECT_EQ(plan.offer(3, 12).evicted, 1U);
  EXPECT_EQ(plan.size(), 1U);
}

}  // namespace
}  // namespace llmb::ingest
