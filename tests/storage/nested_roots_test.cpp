// Roots inside each other, of which each run belongs to the innermost that is watched: over both
// engines.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

class NestedRoots : public ::testing::Test {
 protected:
  RunId commit(RootId root, const std::string& log) {
    const IngestBatch batch = make_batch(root, log, 1);
    return writer_.commit({&batch, 1}).at(0);
  }
  RunRecord run(RunId id) { return Reader(database_.path()).run(id).value_or(RunRecord()); }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  const RootId outer_ = writer_.upsert_root("/data/a", "");
  const RootId inner_ = writer_.upsert_root("/data/a/team", "");
};

TEST_F(NestedRoots, ARunKeepsAllButItsRootAndPath) {
  IngestBatch batch = make_batch(outer_, "team/exp/log.out", 7);
  batch.profiles.emplace().emplace_back().relative_path = "team/exp/nsys_profile/p.nsys-rep";
  const RunId id = writer_.commit({&batch, 1}).at(0);
  const RunId beside = commit(outer_, "team-b/log.out");
  const RunRecord before = run(id);
  EXPECT_EQ(writer_.gather_runs(inner_, {}), 1);
  RunRecord after = run(id);
  EXPECT_EQ(after.root_id, inner_);
  EXPECT_EQ(after.relative_path, "exp/log.out");
  EXPECT_EQ(after.profiles.at(0).relative_path, "exp/nsys_profile/p.nsys-rep");
  EXPECT_EQ(after.revision, before.revision + 1);
  EXPECT_EQ(after.step_count, 7);
  EXPECT_EQ(after.path.experiment, before.path.experiment);
  EXPECT_EQ(Reader(database_.path()).steps(id).size(), 7U);
  EXPECT_TRUE(Reader(database_.path()).cursor(id));
  EXPECT_EQ(run(beside).root_id, outer_);
  EXPECT_EQ(writer_.gather_runs(inner_, {}), 0);
  // Nobody watches the inner one any more.
  EXPECT_EQ(writer_.gather_runs(outer_, {"/data/a/team"}), 0);
  EXPECT_EQ(writer_.gather_runs(outer_, {}), 1);
  after = run(id);
  EXPECT_EQ(after.root_id, outer_);
  EXPECT_EQ(after.relative_path, "team/exp/log.out");
  EXPECT_EQ(after.profiles.at(0).relative_path, "team/exp/nsys_profile/p.nsys-rep");
}

TEST_F(NestedRoots, ALogThatBothHaveStaysWithBoth) {
  const RunId of_outer = commit(outer_, "team/log.out");
  const RunId of_inner = commit(inner_, "log.out");
  EXPECT_EQ(writer_.gather_runs(inner_, {}), 0);
  EXPECT_EQ(run(of_outer).root_id, outer_);
  EXPECT_EQ(run(of_inner).root_id, inner_);
}

TEST_F(NestedRoots, OfOtherClustersKeepTheirRuns) {
  writer_.upsert_root("/data/a", "eos");
  writer_.upsert_root("/data/a/team", "dgx");
  commit(outer_, "team/log.out");
  EXPECT_EQ(writer_.gather_runs(inner_, {}), 0);
}

TEST_F(NestedRoots, APushedOneIsNoNeighbour) {
  PushSender sender{"store", "eos", parser::Instant()};
  LogTelling told;
  told.root_path = "/data/a";
  told.run.relative_path = "team/log.out";
  told.run.revision = 1;
  told.run.first_seen_at = told.run.grown_at = "2026-01-02T03:04:05Z";
  const RunId pushed = writer_.commit_pushed(sender, {told}).at(0).run;
  EXPECT_EQ(writer_.gather_runs(inner_, {}), 0);
  EXPECT_EQ(run(pushed).relative_path, "team/log.out");
}

TEST_F(NestedRoots, NotesOfLogsGoWithThem) {
  writer_.park({outer_, "team/bad.out", "no", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", 1});
  writer_.park({outer_, "bad.out", "no", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", 1});
  writer_.gather_runs(inner_, {});
  const auto parked = Reader(database_.path()).parked_files();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_EQ(parked[0].relative_path, "bad.out");
}

}  // namespace
}  // namespace llmb::storage
