// The removal of logs by a policy: which go, what stays of them, and what comes again.
#include "tests/storage/removal_fixture.h"

#include <gmock/gmock.h>

#include "tests/storage/copied_databases.h"

namespace llmb::storage {
namespace {

using ::testing::ElementsAre;

class RemovalOfLogs : public ::testing::Test {
 protected:
  Writer& writer() { return *writer_; }
  Reader reader() const { return Reader(database_.path()); }
  RunId commit(const IngestBatch& batch) { return writer().commit({&batch, 1}).front(); }
  RemovalCount remove(const RetentionPolicy& policy) {
    return remove_all(database_.path(), writer(), policy);
  }
  std::vector<std::string> paths() {
    RunQuery query;
    query.filter.include_superseded = true;
    query.limit = 100;
    std::vector<std::string> paths;
    for (const RunRecord& run : reader().runs(query).runs) paths.push_back(run.relative_path);
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  void write_four() {
    commit(log_of(eos_, "a.out", "2023-05-01T00:00:00Z", 3));
    commit(log_of(ord_, "b.out", "2024-05-01T00:00:00Z", 4));
    commit(log_of(eos_, "c.out", "2024-06-01T00:00:00Z", 5));
    commit(log_of(eos_, "d.out", "2026-05-01T00:00:00Z", 6));
  }

  const TemporaryDatabase database_;
  std::optional<Writer> writer_ = std::optional<Writer>(std::in_place, database_.options());
  const RootId eos_ = writer().upsert_root("/eos", "eos");
  const RootId ord_ = writer().upsert_root("/ord", "ord");
};

TEST_F(RemovalOfLogs, IsPlannedByClusterAndYear) {
  write_four();
  const RemovalPlan plan = reader().removal_plan(older_than_2025(), kNow);
  ASSERT_EQ(plan.groups.size(), 3U);
  EXPECT_EQ(plan.groups[0].cluster + plan.groups[0].year, "eos2023");
  EXPECT_EQ(plan.groups[1].cluster + plan.groups[1].year, "eos2024");
  EXPECT_EQ(plan.groups[2].cluster + plan.groups[2].year, "ord2024");
  EXPECT_EQ(plan.groups[1].count.runs, 1);
  EXPECT_EQ(plan.groups[1].count.steps, 5);
  EXPECT_EQ(paths().size(), 4U) << "a plan removes nothing";
}

TEST_F(RemovalOfLogs, TakesWhatFitsEveryFilter) {
  write_four();
  RetentionPolicy policy = older_than_2025();
  policy.cluster = "eos";
  const RemovalCount count = remove(policy);
  EXPECT_EQ(count.runs, 2);
  EXPECT_EQ(count.steps, 8);
  EXPECT_THAT(paths(), ElementsAre("b.out", "d.out"));
  policy = {};
  policy.root = "/ord";
  EXPECT_EQ(remove(policy).runs, 1);
  EXPECT_THAT(paths(), ElementsAre("d.out"));
  EXPECT_EQ(remove(policy).runs, 0);
  const RemovalTotal total = reader().removal_total();
  EXPECT_EQ(total.count.runs, 3);
  EXPECT_EQ(total.count.steps, 12);
  EXPECT_EQ(total.removed_at, parser::instant_text(kNow));
}

TEST_F(RemovalOfLogs, SaysOfEachRunWhenAndAsWhat) {
  write_four();
  IngestBatch rewritten = log_of(eos_, "c.out", "2024-06-02T00:00:00Z", 5);
  rewritten.generation = 1;
  commit(rewritten);
  EXPECT_EQ(remove(older_than_2025()).runs, 4);
  for (const RunId id : {1, 2, 3, 5}) {
    const auto removed = reader().removed_run(id);
    ASSERT_TRUE(removed) << id;
    EXPECT_EQ(removed->removed_at, parser::instant_text(kNow));
    EXPECT_EQ(removed->policy, "older than 2025-01-01");
  }
  EXPECT_FALSE(reader().removed_run(4)) << "it is there";
  EXPECT_FALSE(reader().removed_run(6)) << "it never was";
  // The log grows, and is read again, as another run.
  commit(log_of(eos_, "a.out", "2026-05-30T00:00:00Z", 9));
  EXPECT_TRUE(reader().removed_run(1));
}

TEST_F(RemovalOfLogs, LeavesNoRowOfARun) {
  write_four();
  remove(older_than_2025());
  writer_.reset();
  const AllRows rows = all_rows(database_.path());
  const auto of_runs = [&](const char* table) { return rows.at(table).size(); };
  EXPECT_EQ(of_runs("run"), 1U);
  EXPECT_EQ(of_runs("log_cursor"), 1U);
  EXPECT_EQ(of_runs("removed_log"), 3U);
  EXPECT_EQ(reader().totals().steps, 6);
}

TEST_F(RemovalOfLogs, TakesALogWithAllItsGenerations) {
  commit(log_of(eos_, "a.out", "2023-05-01T00:00:00Z"));
  IngestBatch rewritten = log_of(eos_, "a.out", "2024-05-01T00:00:00Z");
  rewritten.generation = 1;
  const RunId newest = commit(rewritten);
  EXPECT_EQ(remove(older_than_2025()).runs, 2);
  EXPECT_TRUE(paths().empty());
  const auto removed = reader().removed_logs();
  ASSERT_EQ(removed.size(), 1U) << "a row a log";
  EXPECT_EQ(removed[0].id, newest);
  EXPECT_EQ(removed[0].generation, 1);
}

TEST_F(RemovalOfLogs, LeavesAnOlderGenerationWithItsLog) {
  commit(log_of(eos_, "a.out", "2023-05-01T00:00:00Z"));
  IngestBatch rewritten = log_of(eos_, "a.out", "2026-05-01T00:00:00Z");
  rewritten.generation = 1;
  commit(rewritten);
  EXPECT_EQ(remove(older_than_2025()).runs, 0);
  EXPECT_EQ(paths().size(), 2U);
}

TEST_F(RemovalOfLogs, LeavesWhatStillRuns) {
  IngestBatch running = log_of(eos_, "a.out", "2026-05-31T12:00:00Z");
  running.summary.status = parser::RunStatus::running;
  commit(running);
  running.relative_path = "forgotten.out";
  running.observed_at = "2026-05-20T12:00:00Z";
  commit(running);
  RetentionPolicy policy;
  policy.cluster = "eos";
  EXPECT_EQ(reader().removal_plan(policy, kNow).still_active, 1);
  EXPECT_EQ(remove(policy).runs, 1);
  EXPECT_THAT(paths(), ElementsAre("a.out"));
}

TEST_F(RemovalOfLogs, LooksAgainWhetherALogStillFits) {
  write_four();
  Removal removal(reader().removal_plan(older_than_2025(), kNow));
  IngestBatch grown = log_of(eos_, "a.out", "2026-05-30T00:00:00Z", 9);
  commit(grown);
  EXPECT_EQ(writer().remove_logs(older_than_2025(), removal.next(), kNow).runs, 2);
  EXPECT_THAT(paths(), ElementsAre("a.out", "d.out"));
}

TEST_F(RemovalOfLogs, KeepsOfALogThatStandsWhatTellsIt) {
  write_four();
  writer().mark_vanished(eos_, "c.out", "2025-01-01T00:00:00Z");
  remove(older_than_2025());
  const auto removed = reader().removed_log(eos_, "a.out");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->size_bytes, 300U);
  EXPECT_EQ(removed->cursor.inode, 7U);
  EXPECT_EQ(removed->cursor.head_hash, 11U);
  EXPECT_EQ(removed->cursor.head_length, 100U);
  EXPECT_EQ(removed->cursor.offset, 300U);
  EXPECT_FALSE(reader().removed_log(ord_, "a.out"));
  EXPECT_FALSE(reader().removed_log(eos_, "c.out")) << "that one is gone";
  // It is kept until the log is gone, or read again.
  writer().mark_vanished(eos_, "a.out", "2026-06-01T00:00:00Z");
  EXPECT_FALSE(reader().removed_log(eos_, "a.out"));
  EXPECT_TRUE(reader().removed_log(ord_, "b.out"));
  commit(log_of(ord_, "b.out", "2026-06-01T00:00:00Z", 9));
  EXPECT_TRUE(reader().removed_logs().empty());
}

TEST_F(RemovalOfLogs, OnlyOfThoseThatAreGone) {
  write_four();
  writer().mark_vanished(eos_, "c.out", "2025-01-01T00:00:00Z");
  RetentionPolicy policy;
  policy.only_gone = true;
  EXPECT_EQ(remove(policy).runs, 1);
  EXPECT_THAT(paths(), ElementsAre("a.out", "b.out", "d.out"));
}

TEST_F(RemovalOfLogs, GivesNoRunTheIdOfARemovedOne) {
  write_four();
  const RunId last = commit(log_of(eos_, "e.out", "2024-06-01T00:00:00Z"));
  writer().mark_vanished(eos_, "e.out", "2025-01-01T00:00:00Z");
  EXPECT_EQ(remove(older_than_2025()).runs, 4);
  EXPECT_EQ(commit(log_of(eos_, "f.out", "2026-06-01T00:00:00Z")), last + 1);
}

TEST_F(RemovalOfLogs, StoresNothingThatContinuesARemovedRun) {
  write_four();
  remove(older_than_2025());
  IngestBatch later = log_of(eos_, "a.out", "2026-06-01T00:00:00Z", 9);
  later.continues_run = true;
  EXPECT_EQ(commit(later), 0);
  EXPECT_THAT(paths(), ElementsAre("d.out"));
  EXPECT_TRUE(reader().removed_log(eos_, "a.out"));
}

TEST_F(RemovalOfLogs, RaisesTheRevisionOfTheData) {
  write_four();
  const std::int64_t before = reader().data_revision();
  remove(older_than_2025());
  EXPECT_GT(reader().data_revision(), before);
  const std::int64_t after = reader().data_revision();
  remove(older_than_2025());
  EXPECT_EQ(reader().data_revision(), after);
}

TEST_F(RemovalOfLogs, GoesOnInSmallTransactions) {
  RemovalPlan plan;
  for (int i = 0; i < 600; ++i) plan.logs.push_back({i + 1, i == 300 ? 1'000'000 : 10});
  Removal removal(plan);
  EXPECT_EQ(removal.log_count(), 600U);
  std::vector<std::size_t> sizes;
  RunId next = 1;
  for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
    sizes.push_back(logs.size());
    for (const RunId run : logs) EXPECT_EQ(run, next++);
  }
  EXPECT_THAT(sizes, ElementsAre(256, 44, 1, 256, 43));
  EXPECT_TRUE(Removal(RemovalPlan()).next().empty());
}

class RemovalOfText : public RemovalOfLogs {
 protected:
  LogTelling telling(const std::string& path, int steps) const {
    LogTelling log;
    log.root_path = "/far";
    const IngestBatch batch = log_of(0, path, "2024-05-01T00:00:00Z", steps);
    log.run.relative_path = path;
    log.run.revision = 1;
    log.run.first_seen_at = log.run.grown_at = batch.observed_at;
    log.run.size_bytes = batch.size_bytes;
    log.run.path = batch.path;
    log.run.facts = batch.facts;
    log.run.summary = batch.summary;
    log.run.step_count = steps;
    log.head_hash = 5;
    log.head_length = 100;
    log.steps = batch.samples;
    return log;
  }
  PushResult tell(const LogTelling& log, const PushSender& sender) {
    return writer().commit_pushed(sender, {log}).front();
  }
  PushResult tell(const LogTelling& log) { return tell(log, store_); }
  std::optional<std::uint64_t> tell_text(std::uint64_t first, std::uint64_t count) {
    const LogBlockTelling told = {"/far", "p.out", 0, {first, count, "packed"}};
    return writer().commit_log_blocks(store_, {&told, 1}).front();
  }

  const PushSender store_ = {"store", "far", kNow};
};

TEST_F(RemovalOfText, LeavesTheRunAndWhereItsTextEnded) {
  tell(telling("p.out", 3));
  EXPECT_EQ(tell_text(0, kLogBlockBytes), kLogBlockBytes);
  EXPECT_EQ(tell_text(kLogBlockBytes, 1'000), kLogBlockBytes + 1'000);
  RetentionPolicy policy = older_than_2025();
  policy.only_log_text = true;
  const RemovalPlan plan = reader().removal_plan(policy, kNow);
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].count.log_text_bytes, 12U);
  EXPECT_EQ(remove(policy).log_text_bytes, 12U);
  EXPECT_EQ(remove(policy).runs, 0) << "there is none any more";
  const RunId run = reader().run_at(3, "p.out")->id;
  EXPECT_EQ(reader().steps(run).size(), 3U);
  EXPECT_EQ(reader().log_text_end(run), kLogBlockBytes + 1'000) << "it is not sent again";
  EXPECT_EQ(reader().held_logs("store", "far", 0, 9).front().text_bytes, kLogBlockBytes + 1'000);
  EXPECT_TRUE(reader().log_blocks(run, 0, 2 * kLogBlockBytes).empty());
  // What comes behind it takes its place.
  EXPECT_EQ(tell_text(kLogBlockBytes, 2'000), kLogBlockBytes + 2'000);
  EXPECT_EQ(reader().log_blocks(run, 0, 2 * kLogBlockBytes).size(), 1U);
}

TEST_F(RemovalOfText, LeavesAServerThatSaysItHasThePushedRun) {
  const RunId run = tell(telling("p.out", 3)).run;
  tell_text(0, 1'000);
  EXPECT_EQ(remove(older_than_2025()).runs, 1);
  const auto held = reader().held_logs("store", "far", 0, 9);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].run, run);
  EXPECT_EQ(held[0].revision, 1);
  EXPECT_EQ(held[0].step_count, 3);
  EXPECT_FALSE(tell_text(0, 1'000));
  const PushResult again = tell(telling("p.out", 3));
  EXPECT_EQ(again.verdict, PushVerdict::covered);
  EXPECT_EQ(again.revision, 1);
  EXPECT_EQ(again.step_count, 3);
  // The agent judged it anew; there are no more bytes.
  LogTelling judged = telling("p.out", 3);
  judged.run.revision = 2;
  judged.known_revision = 1;
  judged.known_step_count = 3;
  judged.from = kBehindAllSteps;
  judged.steps.clear();
  EXPECT_EQ(tell(judged).verdict, PushVerdict::covered);
  EXPECT_EQ(reader().held_logs("store", "far", 0, 9).front().revision, 2);
  EXPECT_TRUE(paths().empty());
}

TEST_F(RemovalOfText, LeavesAPushedLogThatComesAsAWholeWhenItGrows) {
  const RunId run = tell(telling("p.out", 3)).run;
  remove(older_than_2025());
  LogTelling more = telling("p.out", 5);
  more.run.revision = 2;
  more.known_revision = 1;
  more.known_step_count = 3;
  more.from = {0, 3};
  more.steps.erase(more.steps.begin(), more.steps.begin() + 3);
  const PushResult refused = tell(more);
  EXPECT_EQ(refused.verdict, PushVerdict::conflict);
  EXPECT_EQ(refused.revision, 0);
  LogTelling whole = telling("p.out", 5);
  whole.run.revision = 2;
  const PushResult taken = tell(whole);
  EXPECT_EQ(taken.verdict, PushVerdict::taken);
  EXPECT_GT(taken.run, run);
  EXPECT_EQ(reader().steps(taken.run).size(), 5U);
  EXPECT_EQ(reader().held_logs("store", "far", 0, 9).size(), 1U);
}

TEST_F(RemovalOfText, KeepsOtherStoresAndOlderGenerationsOut) {
  LogTelling log = telling("p.out", 3);
  log.run.generation = 4;
  tell(log);
  remove(older_than_2025());
  log.run.generation = 3;
  EXPECT_EQ(tell(log).verdict, PushVerdict::covered);
  log.run.generation = 0;
  EXPECT_EQ(tell(log, {"another", "far", kNow}).verdict, PushVerdict::covered)
      << "the agent's database was made anew";
  EXPECT_TRUE(paths().empty());
  log.run.generation = 5;  // rewritten
  log.head_hash = 6;
  EXPECT_EQ(tell(log).verdict, PushVerdict::taken);
  EXPECT_EQ(tell(log, {"third", "elsewhere", kNow}).verdict, PushVerdict::taken)
      << "another cluster's tree of that path";
}

TEST_F(RemovalOfText, IsOfACopyToo) {
  tell(telling("p.out", 3));
  write_four();
  remove(older_than_2025());
  const NewPlace copy(Engine::sqlite);
  copy_all(database_.path(), copy.options());
  expect_same_rows(database_.path(), copy.path());
  EXPECT_EQ(Reader(copy.path()).removed_logs().size(), 3U);
}

// What a copy has of before the removal goes with the next call.
TEST_F(RemovalOfText, IsDoneInACopyThatWasBegun) {
  write_four();
  const NewPlace copy(Engine::sqlite);
  {
    DatabaseCopy begun(database_.path(), copy.options());
    EXPECT_EQ(begun.copy_some_runs(), 4);
  }
  remove(older_than_2025());
  copy_all(database_.path(), copy.options());
  expect_same_rows(database_.path(), copy.path());
  EXPECT_EQ(Reader(copy.path()).run_count({}), 1);
}

}  // namespace
}  // namespace llmb::storage
