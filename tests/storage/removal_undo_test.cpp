// The way back from a removal: which removed logs can be let in again, and what comes of it.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "storage/database_place.h"
#include "tests/storage/removal_fixture.h"

namespace llmb::storage {
namespace {

constexpr const char* kOf2023 = "experiments/exp/exp_1680000000/exp/log-a.exp_1_0.out";
constexpr const char* kOf2024 = "experiments/exp/exp_1710000000/exp/log-a.exp_2_0.out";

class RemovalOfLogsUndone : public ::testing::Test {
 protected:
  RemovalOfLogsUndone() {
    for (const auto& [root, path] : std::vector<std::pair<RootId, const char*>>{{eos_, kOf2023},
                                                                                {eos_, kOf2024},
                                                                                {ord_, kOf2024},
                                                                                {eos_, "a.out"},
                                                                                {bare_, "b.out"}}) {
      const IngestBatch batch = log_of(root, path, "2024-05-01T00:00:00Z", 3);
      writer_.commit({&batch, 1});
    }
  }
  void remove_everything(parser::Instant now = kNow) {
    remove_all(database_.path(), writer_, older_than_2025(), now);
    ASSERT_EQ(reader().run_count({}), 0);
  }
  Reader reader() const { return Reader(database_.path()); }
  // By cluster and year, how many.
  std::map<std::string, std::int64_t> fitting(const UndoFilter& filter) const {
    std::map<std::string, std::int64_t> logs;
    for (const UndoGroup& group : reader().undo_plan(filter).groups) {
      logs[group.cluster + group.year] = group.logs;
    }
    return logs;
  }
  RunId tell(std::int64_t generation) {
    LogTelling log;
    log.root_path = "/far";
    log.run.relative_path = "p.out";
    log.run.generation = generation;
    log.run.revision = 1;
    log.run.first_seen_at = log.run.grown_at = "2024-05-01T00:00:00Z";
    log.run.summary.status = parser::RunStatus::complete;
    log.run.step_count = 1;
    log.steps = {make_step(0, 1.0)};
    log.head_hash = static_cast<std::uint64_t>(generation) + 5;
    log.head_length = 100;
    return writer_.commit_pushed({"store", "far", kNow}, {log}).front().run;
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  const RootId eos_ = writer_.upsert_root("/eos", "eos");
  const RootId ord_ = writer_.upsert_root("/ord", "ord");
  const RootId bare_ = writer_.upsert_root("/bare", "");
};

using Counts = std::map<std::string, std::int64_t>;

TEST_F(RemovalOfLogsUndone, IsPlannedByClusterAndYearOfLaunch) {
  EXPECT_TRUE(reader().undo_plan({}).removed.empty());
  remove_everything();
  const UndoPlan plan = reader().undo_plan({});
  ASSERT_EQ(plan.groups.size(), 5U);
  EXPECT_EQ(fitting({}),
            (Counts{{"", 1}, {"eos", 1}, {"eos2023", 1}, {"eos2024", 1}, {"ord2024", 1}}));
  EXPECT_EQ(plan.groups[1].steps, 3);
  EXPECT_EQ(plan.groups[1].first_removed_at, parser::instant_text(kNow));
  EXPECT_EQ(plan.removed.size(), 5U);
  EXPECT_EQ(plan.pushed_logs, 0);
  EXPECT_EQ(reader().removed_logs().size(), 5U) << "a plan takes nothing back";
}

TEST_F(RemovalOfLogsUndone, TakesWhatFitsEveryFilter) {
  remove_everything();
  UndoFilter filter;
  filter.root = "/ord";
  EXPECT_EQ(fitting(filter), (Counts{{"ord2024", 1}}));
  filter.cluster = "eos";
  EXPECT_TRUE(fitting(filter).empty());
  filter = {};
  filter.cluster = "eos";
  filter.launched_before = "2024-01-01T00:00:00Z";
  EXPECT_EQ(fitting(filter), (Counts{{"eos2023", 1}}));
}

TEST_F(RemovalOfLogsUndone, TellsWhatItDoesNotKnow) {
  remove_everything();
  UndoFilter filter;
  filter.cluster = "eos";
  EXPECT_EQ(reader().undo_plan(filter).of_unknown_cluster, 1);
  filter = {};
  filter.launched_before = "2024-01-01T00:00:00Z";
  UndoPlan plan = reader().undo_plan(filter);
  EXPECT_EQ(plan.of_unknown_launch, 2);
  EXPECT_EQ(plan.removed.size(), 1U);
  // What was removed before that was launched before that.
  filter.launched_before = parser::instant_text(kNow + std::chrono::hours(1));
  plan = reader().undo_plan(filter);
  EXPECT_EQ(plan.of_unknown_launch, 0);
  EXPECT_EQ(plan.removed.size(), 5U);
}

TEST_F(RemovalOfLogsUndone, TakesThoseThatWereRemovedSince) {
  remove_everything();
  const auto later = kNow + std::chrono::hours(24 * 7);
  const IngestBatch batch = log_of(ord_, "late.out", "2024-05-01T00:00:00Z", 3);
  writer_.commit({&batch, 1});
  remove_everything(later);
  UndoFilter filter;
  filter.removed_since = parser::instant_text(later);
  EXPECT_EQ(fitting(filter), (Counts{{"ord", 1}}));
  EXPECT_EQ(reader().undo_plan({}).removed.size(), 6U);
}

TEST_F(RemovalOfLogsUndone, LetsLogsInAgainAndGoesOnWithTheRest) {
  remove_everything();
  const std::vector<RunId> all = reader().undo_plan({}).removed;
  const std::int64_t revision = reader().data_revision();
  EXPECT_EQ(writer_.let_in_again(std::span(all).first(2)), 2);
  EXPECT_EQ(reader().undo_plan({}).removed.size(), 3U);
  EXPECT_EQ(writer_.let_in_again(all), 3) << "the others are in already";
  EXPECT_EQ(writer_.let_in_again(all), 0);
  EXPECT_TRUE(reader().removed_logs().empty());
  EXPECT_EQ(reader().data_revision(), revision) << "no run changed";
  // What was removed is told of for good, and its id is no other's.
  EXPECT_TRUE(reader().removed_run(all.front()));
  EXPECT_EQ(reader().removal_total().count.runs, 5);
  const IngestBatch again = log_of(eos_, "a.out", "2024-05-01T00:00:00Z", 3);
  EXPECT_EQ(writer_.commit({&again, 1}).front(), 6);
}

TEST_F(RemovalOfLogsUndone, CountsAPushedLogOnceAndLetsInAllItsGenerations) {
  tell(0);
  const RunId newest = tell(1);
  remove_everything();
  UndoFilter filter;
  filter.cluster = "far";
  const UndoPlan plan = reader().undo_plan(filter);
  EXPECT_EQ(plan.pushed_logs, 1);
  EXPECT_EQ(fitting(filter), (Counts{{"far", 1}}));
  ASSERT_EQ(plan.removed.size(), 2U);
  ASSERT_EQ(reader().held_logs("store", "far", 0, 9).size(), 2U);
  const std::int64_t mark = reader().held_logs_mark();
  EXPECT_EQ(writer_.let_in_again(plan.removed), 2);
  EXPECT_TRUE(reader().held_logs("store", "far", 0, 9).empty());
  EXPECT_EQ(reader().held_logs_mark() != mark, admits_several_writers(database_.path()))
      << "a file's server is started anew";
  EXPECT_GT(tell(0), newest);
  EXPECT_GT(tell(1), newest);
}

TEST_F(RemovalOfLogsUndone, OfWatchedLogsIsNoNewsForAgents) {
  remove_everything();
  const std::int64_t mark = reader().held_logs_mark();
  EXPECT_EQ(writer_.let_in_again(reader().undo_plan({}).removed), 5);
  EXPECT_EQ(reader().held_logs_mark(), mark);
}

// More than one page of them, and no log twice.
TEST_F(RemovalOfLogsUndone, OfManyLogsIsPlannedByPages) {
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 4'200; ++i) {
    batches.push_back(log_of(ord_, std::to_string(i) + ".out", "2024-05-01T00:00:00Z", 0));
  }
  writer_.commit(batches);
  remove_everything();
  UndoFilter filter;
  filter.root = "/ord";
  UndoPlan plan = reader().undo_plan(filter);
  EXPECT_EQ(plan.removed.size(), 4'201U);
  std::sort(plan.removed.begin(), plan.removed.end());
  EXPECT_EQ(std::unique(plan.removed.begin(), plan.removed.end()), plan.removed.end());
}

}  // namespace
}  // namespace llmb::storage
