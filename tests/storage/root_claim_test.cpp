// Several writers of one database, each of the runs of its own tree. Of PostgreSQL only: a file has
// one writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/database_copy.h"
#include "storage/database_place.h"
#include "storage/job_store.h"
#include "tests/storage/removal_fixture.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

class RootClaims : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!admits_several_writers(database_.path())) GTEST_SKIP() << "a file has one writer";
  }

  std::unique_ptr<Writer> writer_of(const std::string& root, const std::string& cluster = "",
                                    const std::vector<std::string>& inner = {}) const {
    return std::make_unique<Writer>(database_.options(), RootClaim{root, cluster, inner});
  }
  // One that has claimed its tree, and has a run of one step there.
  std::unique_ptr<Writer> begun_writer_of(const std::string& root) {
    auto writer = writer_of(root);
    EXPECT_EQ(writer->claim_root(), ClaimOutcome::taken);
    root_ = writer->upsert_root(root, "");
    commit(*writer, "a.out");
    return writer;
  }
  RunId commit(Writer& writer, const std::string& log) const {
    const IngestBatch batch = make_batch(root_, log, 1);
    return writer.commit({&batch, 1}).at(0);
  }
  StorageError::Kind refusal_of(Writer& writer, const std::string& log) const {
    try {
      commit(writer, log);
    } catch (const StorageError& error) {
      said_ = error.what();
      return error.kind;
    }
    ADD_FAILURE() << "it was committed";
    return StorageError::Kind::io;
  }
  // All that there are by now, until they have ended.
  void end_sessions() const {
    execute_sql_at_server(database_.path(),
                          "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
                          " WHERE pid <> pg_backend_pid() AND datname = current_database()");
  }

  const TemporaryDatabase database_;
  RootId root_ = 0;
  mutable std::string said_;
};

TEST_F(RootClaims, ATreeHasOneWriterAndIsFreeAtItsEnd) {
  auto first = begun_writer_of("/data/a");
  const auto second = writer_of("/data/a");
  EXPECT_EQ(second->claim_root(), ClaimOutcome::of_another);
  EXPECT_NE(second->root_holder().process.find("process " + std::to_string(getpid())),
            std::string::npos)
      << second->root_holder().process;
  first.reset();
  EXPECT_EQ(second->claim_root(), ClaimOutcome::taken);
  EXPECT_NE(commit(*second, "b.out"), 0);
}

TEST_F(RootClaims, WritersOfTwoTreesAndOneOfNoneCommitInTurn) {
  const auto first = begun_writer_of("/data/a");
  const RootId root_a = root_;
  const auto second = begun_writer_of("/data/b");
  const RootId root_b = root_;
  EXPECT_NE(root_a, root_b);
  Writer of_none(database_.options());
  PushSender sender{"store", "eos", parser::Instant()};
  std::vector<RunId> runs;
  for (int i = 0; i < 5; ++i) {
    const std::string log = std::to_string(i) + ".out";
    root_ = root_a;
    runs.push_back(commit(*first, log));
    root_ = root_b;
    runs.push_back(commit(*second, log));
    LogTelling told;
    told.root_path = "/data/a";
    told.run.relative_path = log;
    told.run.revision = 1;
    told.run.first_seen_at = told.run.grown_at = "2026-01-02T03:04:05Z";
    runs.push_back(of_none.commit_pushed(sender, {told}).at(0).run);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i], static_cast<RunId>(i + 3));  // after the first of each tree
  }
  Reader reader(database_.path());
  EXPECT_EQ(reader.data_revision(), 17);
  EXPECT_EQ(reader.known_files(root_b).size(), 6U);
  EXPECT_EQ(reader.known_files().size(), 12U);
}

TEST_F(RootClaims, WritesNothingBeforeTheClaim) {
  const auto writer = writer_of("/data/a");
  EXPECT_THROW(writer->upsert_root("/data/a", ""), StorageError);
  EXPECT_TRUE(Reader(database_.path()).roots().empty());
}

TEST_F(RootClaims, ASessionThatEndedIsMadeAnewWithItsClaim) {
  const auto writer = begun_writer_of("/data/a");
  end_sessions();
  EXPECT_NE(commit(*writer, "b.out"), 0);
  EXPECT_EQ(writer_of("/data/a")->claim_root(), ClaimOutcome::of_another);
}

TEST_F(RootClaims, WhoWasTakenOverWritesNothingMore) {
  const auto first = begun_writer_of("/data/a");
  end_sessions();
  auto second = writer_of("/data/a");
  ASSERT_EQ(second->claim_root(), ClaimOutcome::taken);
  EXPECT_EQ(refusal_of(*first, "b.out"), StorageError::Kind::taken_over);
  EXPECT_NE(said_.find("/data/a"), std::string::npos) << said_;
  EXPECT_EQ(refusal_of(*first, "b.out"), StorageError::Kind::taken_over);
  EXPECT_EQ(first->claim_root(), ClaimOutcome::of_another);
  second.reset();
  EXPECT_EQ(first->claim_root(), ClaimOutcome::taken);
  EXPECT_NE(commit(*first, "b.out"), 0);
}

// The lock is free again, but what the first one knows is not what is stored.
TEST_F(RootClaims, WhatAnotherWroteMeanwhileIsNoticed) {
  const auto first = begun_writer_of("/data/a");
  end_sessions();
  {
    const auto second = writer_of("/data/a");
    ASSERT_EQ(second->claim_root(), ClaimOutcome::taken);
    commit(*second, "b.out");
  }
  EXPECT_EQ(refusal_of(*first, "c.out"), StorageError::Kind::taken_over);
  EXPECT_EQ(first->claim_root(), ClaimOutcome::taken);
  EXPECT_NE(commit(*first, "c.out"), 0);
}

TEST_F(RootClaims, OneWhoOnlyClaimedMeanwhileDisturbsNobody) {
  const auto first = begun_writer_of("/data/a");
  end_sessions();
  EXPECT_EQ(writer_of("/data/a")->claim_root(), ClaimOutcome::taken);
  EXPECT_NE(commit(*first, "b.out"), 0);
}

// By who holds no tree, as `prune --undo`: what the tree's writer knows of its logs is outdated.
TEST_F(RootClaims, LogsThatWereLetInAgainMeanwhileAreNoticed) {
  const auto of_tree = begun_writer_of("/data/a");
  const IngestBatch old = log_of(root_, "old.out", "2024-05-01T00:00:00Z");
  of_tree->commit({&old, 1});
  Writer of_none(database_.options());
  remove_all(database_.path(), of_none, older_than_2025());
  EXPECT_EQ(of_none.let_in_again(Reader(database_.path()).undo_plan({}).removed), 1);
  EXPECT_EQ(refusal_of(*of_tree, "c.out"), StorageError::Kind::taken_over);
  EXPECT_NE(said_.find("let removed logs in again"), std::string::npos) << said_;
  EXPECT_NE(said_.find("process " + std::to_string(getpid())), std::string::npos) << said_;
  EXPECT_EQ(of_tree->claim_root(), ClaimOutcome::taken);
}

// A standby took over that lacked the last changes, and somebody else wrote into it by then.
TEST_F(RootClaims, ADatabaseThatWentBackIsNoticedThoughOthersWroteOn) {
  const auto of_tree = begun_writer_of("/data/a");
  Writer of_none(database_.options());
  const RunId run = commit(*of_tree, "b.out");
  of_none.update_configuration(run, {});
  execute_sql_at_server(database_.path(),
                        "UPDATE writer_mark SET last_revision = last_revision - 1;"
                        " UPDATE data_revision SET revision = revision + 10");
  EXPECT_EQ(refusal_of(*of_tree, "c.out"), StorageError::Kind::taken_over);
  EXPECT_EQ(of_tree->claim_root(), ClaimOutcome::taken);
  EXPECT_NE(commit(*of_tree, "c.out"), 0);
  EXPECT_EQ(refusal_of(of_none, "d.out"), StorageError::Kind::lost);
}

// What its process knows of removed logs is not so any more, and nothing of the tree changes.
TEST_F(RootClaims, OneWhoseRemovedLogsAreLetInAgainNoticesByItself) {
  const auto of_tree = begun_writer_of("/data/a");
  const auto of_other = begun_writer_of("/data/b");
  const auto now = *parser::parse_instant("2100-01-01T00:00:00Z");
  RetentionPolicy policy;
  policy.root = "/data/a";
  policy.words = "root /data/a";
  Writer of_none(database_.options());
  const RunId removed = 1;
  ASSERT_EQ(of_none.remove_logs(policy, {&removed, 1}, now).runs, 1);
  of_tree->require_same_neighbours();
  EXPECT_EQ(of_none.let_in_again({&removed, 1}), 1);
  EXPECT_THROW(of_tree->require_same_neighbours(), StorageError);
  of_other->require_same_neighbours();
  EXPECT_EQ(of_tree->claim_root(), ClaimOutcome::taken);
  of_tree->require_same_neighbours();
}

TEST_F(RootClaims, ACopyHasTheDatabaseForItself) {
  const auto other = begun_writer_of("/data/a");
  const TemporaryDatabase source;
  { const Writer made(source.options()); }
  try {
    DatabaseCopy(source.path(), database_.options());
    FAIL() << "it was opened";
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, StorageError::Kind::busy_elsewhere) << error.what();
  }
}

TEST_F(RootClaims, AnEmptyDatabaseIsMadeByOneOfManyWhoBegin) {
  std::vector<std::thread> threads;
  std::atomic<int> begun = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto writer = writer_of("/data/" + std::to_string(i));
      if (writer->claim_root() == ClaimOutcome::taken) ++begun;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(begun, 8);
}

TEST_F(RootClaims, OneFollowsTheJobsOfACluster) {
  auto first = std::make_unique<JobStore>(database_.options());
  JobStore second(database_.options());
  EXPECT_TRUE(first->follows("eos"));
  EXPECT_FALSE(second.follows("eos"));
  EXPECT_TRUE(second.follows("dgx"));
  EXPECT_TRUE(first->follows("eos"));
  end_sessions();
  EXPECT_TRUE(second.follows("eos"));
  EXPECT_FALSE(first->follows("eos"));
}

// A server that watches a tree, and another one that watches a folder in it.
class NestedClaims : public RootClaims {
 protected:
  using Trees = std::vector<std::string>;
  static constexpr const char* kOuter = "/data/a";
  static constexpr const char* kInner = "/data/a/team";
  static constexpr std::chrono::hours kLong{1};

  // As a server does: claims, registers, and takes what is its own by then.
  ClaimOutcome begin(Writer& writer, const std::string& path) {
    const ClaimOutcome outcome = writer.claim_root();
    if (outcome != ClaimOutcome::taken) return outcome;
    root_ = writer.upsert_root(path, "");
    writer.gather_runs(root_, writer.trees_left_out());
    return outcome;
  }
  Trees stored() const {
    Reader reader(database_.path());
    std::map<RootId, std::string> paths;
    for (const RootRecord& root : reader.roots()) paths[root.id] = root.path;
    Trees logs;
    for (const auto& file : reader.known_files()) {
      logs.push_back(paths[file.root_id] + " " + file.relative_path);
    }
    std::sort(logs.begin(), logs.end());
    return logs;
  }
};

TEST_F(NestedClaims, TheInnerOneWaitsUntilTheOuterOneLeavesItOut) {
  const auto outer = writer_of(kOuter);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  commit(*outer, "a.out");
  const RunId moved = commit(*outer, "team/b.out");
  outer->require_same_neighbours();
  const auto inner = writer_of(kInner);
  EXPECT_EQ(begin(*inner, kInner), ClaimOutcome::awaits_outer);
  EXPECT_EQ(inner->root_holder().path, kOuter);
  EXPECT_THROW(inner->upsert_root(kInner, ""), StorageError);
  EXPECT_EQ(begin(*inner, kInner), ClaimOutcome::awaits_outer);
  commit(*outer, "team/c.out");  // it has not looked yet
  EXPECT_THROW(outer->require_same_neighbours(), StorageError);
  EXPECT_EQ(refusal_of(*outer, "team/d.out"), StorageError::Kind::taken_over);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(outer->trees_left_out(), Trees{kInner});
  outer->require_same_neighbours();
  EXPECT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
  EXPECT_EQ(stored(), (Trees{"/data/a a.out", "/data/a/team b.out", "/data/a/team c.out"}));
  EXPECT_EQ(Reader(database_.path()).run(moved)->relative_path, "b.out");
  outer->require_same_neighbours();
}

TEST_F(NestedClaims, TheOuterOneLeavesOutWhatWasClaimedBefore) {
  const auto inner = writer_of(kInner);
  ASSERT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
  commit(*inner, "b.out");
  const auto outer = writer_of(kOuter);
  EXPECT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(outer->trees_left_out(), Trees{kInner});
  EXPECT_NE(commit(*inner, "c.out"), 0) << "nobody disturbed it";
}

TEST_F(NestedClaims, AnInnerOneThatEndedIsReadWithTheOuterOneOnceItHasRested) {
  const auto outer = writer_of(kOuter);
  {
    const auto inner = writer_of(kInner);
    ASSERT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
    commit(*inner, "b.out");
    ASSERT_EQ(outer->claim_root(kLong), ClaimOutcome::taken);
  }
  outer->require_same_neighbours();
  EXPECT_EQ(outer->claim_root(kLong), ClaimOutcome::taken);
  EXPECT_EQ(outer->trees_left_out(), Trees{kInner});
  EXPECT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(outer->trees_left_out(), Trees());
  EXPECT_EQ(stored(), Trees{"/data/a team/b.out"});
  const auto again = writer_of(kInner);
  EXPECT_EQ(begin(*again, kInner), ClaimOutcome::awaits_outer);
}

// Its session with the database comes back, and it knows nothing of the other one yet.
TEST_F(NestedClaims, AnOuterOneWhoseSessionHadEndedWritesNothingOfTheInnerOnes) {
  const auto outer = writer_of(kOuter);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  const RootId root_of_outer = root_;
  commit(*outer, "team/b.out");
  end_sessions();
  const auto inner = writer_of(kInner);
  ASSERT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
  root_ = root_of_outer;
  EXPECT_EQ(refusal_of(*outer, "team/c.out"), StorageError::Kind::taken_over);
  EXPECT_EQ(stored(), Trees{"/data/a/team b.out"});
}

TEST_F(NestedClaims, AnInnerOneThatWasTakenInWritesNothingMore) {
  const auto inner = writer_of(kInner);
  ASSERT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
  const RootId root_of_inner = root_;
  commit(*inner, "b.out");
  end_sessions();
  const auto outer = writer_of(kOuter);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  root_ = root_of_inner;
  EXPECT_EQ(refusal_of(*inner, "c.out"), StorageError::Kind::taken_over);
  EXPECT_EQ(stored(), Trees{"/data/a team/b.out"});
}

TEST_F(NestedClaims, OfThreeTheInnermostHasTheLog) {
  const auto outer = writer_of(kOuter);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  commit(*outer, "team/deep/c.out");
  commit(*outer, "team/b.out");
  const auto innermost = writer_of("/data/a/team/deep");
  EXPECT_EQ(begin(*innermost, "/data/a/team/deep"), ClaimOutcome::awaits_outer);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(begin(*innermost, "/data/a/team/deep"), ClaimOutcome::taken);
  auto inner = writer_of(kInner);
  EXPECT_EQ(begin(*inner, kInner), ClaimOutcome::awaits_outer);
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(begin(*inner, kInner), ClaimOutcome::taken);
  EXPECT_EQ(inner->trees_left_out(), Trees{"/data/a/team/deep"});
  EXPECT_EQ(stored(), (Trees{"/data/a/team b.out", "/data/a/team/deep c.out"}));
  inner.reset();
  ASSERT_EQ(begin(*outer, kOuter), ClaimOutcome::taken);
  EXPECT_EQ(stored(), (Trees{"/data/a team/b.out", "/data/a/team/deep c.out"}));
}

TEST_F(NestedClaims, AreOfOneClusterOrUnrelated) {
  const auto outer = writer_of(kOuter, "eos");
  ASSERT_EQ(outer->claim_root(), ClaimOutcome::taken);
  const auto elsewhere = writer_of(kInner, "dgx");
  EXPECT_EQ(elsewhere->claim_root(), ClaimOutcome::taken);
  const auto beside = writer_of("/data/a-b", "eos");
  EXPECT_EQ(beside->claim_root(), ClaimOutcome::taken);
  outer->require_same_neighbours();
  EXPECT_EQ(outer->claim_root(), ClaimOutcome::taken);
  EXPECT_EQ(outer->trees_left_out(), Trees());
}

TEST_F(NestedClaims, OfOneProcessWaitForNothing) {
  const auto outer = writer_of(kOuter, "", {kInner});
  ASSERT_EQ(outer->claim_root(), ClaimOutcome::taken);
  EXPECT_EQ(writer_of(kInner)->claim_root(), ClaimOutcome::taken);
  outer->require_same_neighbours();
}

// A program with another catalog begins beside one that is at work.
TEST(JudgedRuns, AreLeftWhereTheyHaveChangedSinceTheyWereRead) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  std::vector<IngestBatch> batches(2, make_batch(writer.upsert_root("/data/a", ""), "a.out"));
  batches[1].relative_path = "b.out";
  batches[0].profiles.emplace().emplace_back().relative_path = "profile.nsys-rep";
  const std::vector<RunId> ids = writer.commit(batches);
  Reader reader(database.path());
  auto found = reader.runs_not_listed_by(7, 0, 10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(reader.runs_not_listed_by(7, ids[0], 10).size(), 1U);
  writer.mark_vanished(batches[1].root_id, "b.out", "2026-01-02T03:04:05Z");
  const ListedResult listed{{}, 1.0, {}, {}, {}, 7};
  writer.update_listed(std::vector<Writer::JudgedRun>{{ids[0], found[0].revision, listed},
                                                      {ids[1], found[1].revision, listed}});
  found = reader.runs_not_listed_by(7, 0, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, ids[1]);
  EXPECT_EQ(reader.run(ids[0])->listed.tokens_per_s_per_gpu, 1.0);
  EXPECT_TRUE(reader.run(ids[0])->is_profiled);  // its profiles are still there
}

TEST(JobFollowing, InAFileIsTheOneProcess) {
  const TemporaryFolder folder;
  JobStore store(OpenOptions{folder.file("runs.db"), true});
  EXPECT_TRUE(store.follows("eos"));
  EXPECT_TRUE(store.follows("eos"));
}

}  // namespace
}  // namespace llmb::storage
