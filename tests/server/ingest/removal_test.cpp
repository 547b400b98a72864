// Logs whose runs were removed on purpose: they stand, are passed over, and come back as a whole
// once they change.
#include "storage/removal.h"
#include "server/ingest/retention.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class IngestRemoval : public TreeTest {
 protected:
  storage::RetentionPolicy everything() const {
    storage::RetentionPolicy policy;
    policy.words = "root " + tree_;
    policy.root = std::filesystem::canonical(tree_).string();
    return policy;
  }
  static parser::Instant later() {
    return std::chrono::floor<parser::Instant::duration>(std::chrono::system_clock::now()) +
           hours(24 * 30);
  }
  std::vector<storage::RunId> planned() const {
    std::vector<storage::RunId> runs;
    for (const auto& log : storage::Reader(database_).removal_plan(everything(), later()).logs) {
      runs.push_back(log.run);
    }
    return runs;
  }
  // By a command, while no daemon has the database.
  void remove_all() {
    storage::Writer writer({database_, true});
    ASSERT_GT(writer.remove_logs(everything(), planned(), later()).runs, 0);
  }
  // By the daemon's own writer.
  void remove_all(Ingest& ingest) {
    std::atomic<bool> is_done = false;
    const auto runs = planned();
    ASSERT_TRUE(ingest.write([&](storage::Writer& writer) {
      writer.remove_logs(everything(), runs, later());
      is_done = true;
    }));
    ASSERT_TRUE(eventually([&] { return is_done.load(); }));
    ASSERT_EQ(count(), 0);
  }
  std::int64_t count() const { return storage::Reader(database_).run_count({}); }
  std::size_t removed_count() const { return storage::Reader(database_).removed_logs().size(); }
};

TEST_F(IngestRemoval, IsNotUndoneByReadingTheTree) {
  write("a/run.out", nemo_lines(0, 50));
  write("b/run.out", nemo_lines(0, 20));
  write("c/torn.out", nemo_lines(0, 20) + "Training ep");
  write("d/empty.out", "");
  ingest_once();
  ASSERT_EQ(count(), 4);
  remove_all();
  for (int i = 0; i < 2; ++i) {
    const IngestStatus status = ingest_once();
    EXPECT_EQ(status.files_seen, 4);
    EXPECT_EQ(status.samples_committed, 0);
    EXPECT_EQ(count(), 0);
    EXPECT_EQ(removed_count(), 4U);
  }
  // Touched, and copied: the bytes are the same.
  set_age("a/run.out", hours(1));
  std::filesystem::copy_file(tree_path("b/run.out"), tree_path("b/copy"));
  std::filesystem::rename(tree_path("b/copy"), tree_path("b/run.out"));
  ingest_once();
  EXPECT_EQ(count(), 0);
}

TEST_F(IngestRemoval, IsOverOnceTheLogGrows) {
  write("run.out", nemo_lines(0, 20));
  ingest_once();
  remove_all();
  append("run.out", nemo_lines(20, 30));
  ingest_once();
  EXPECT_EQ(steps_of("run.out").size(), 50U) << "it comes as a whole";
  EXPECT_EQ(run_of("run.out")->generation, 0);
  EXPECT_EQ(removed_count(), 0U);
}

TEST_F(IngestRemoval, IsOverOnceTheLogIsWrittenAnew) {
  write("run.out", nemo_lines(0, 20));
  write("shorter.out", nemo_lines(0, 20));
  ingest_once();
  remove_all();
  write("run.out", nemo_lines(0, 20, 49, 6.5));
  write("shorter.out", nemo_lines(0, 5));
  ingest_once();
  EXPECT_EQ(steps_of("run.out").size(), 20U);
  EXPECT_EQ(run_of("run.out")->generation, 1);
  EXPECT_EQ(steps_of("shorter.out").size(), 5U);
  EXPECT_EQ(removed_count(), 0U);
}

TEST_F(IngestRemoval, IsForgottenWithTheLog) {
  write("run.out", nemo_lines(0, 20));
  write("other.out", nemo_lines(0, 20));
  ingest_once();
  remove_all();
  std::filesystem::remove(tree_path("run.out"));
  ingest_once();
  EXPECT_EQ(removed_count(), 1U);
  write("run.out", nemo_lines(0, 20));
  ingest_once();
  EXPECT_EQ(count(), 1) << "a log of that name is a new one";
}

TEST_F(IngestRemoval, IsNotForgottenWhereTheTreeIsNotMounted) {
  write("run.out", nemo_lines(0, 20));
  ingest_once();
  remove_all();
  std::filesystem::rename(tree_, folder_ / "away");
  std::filesystem::create_directory(tree_);
  EXPECT_FALSE(ingest_once().root_errors.empty());
  EXPECT_EQ(removed_count(), 1U);
  std::filesystem::remove(tree_);
  std::filesystem::rename(folder_ / "away", tree_);
  ingest_once();
  EXPECT_EQ(count(), 0);
}

TEST_F(IngestRemoval, ByADaemonLastsWhileItFollowsTheTree) {
  write("a/run.out", nemo_lines(0, 50));
  write("b/run.out", nemo_lines(0, 20));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of("b/run.out").size() == 20; }));
  ASSERT_TRUE(eventually([&] { return steps_of("a/run.out").size() == 50; }));
  const auto removed = run_of("a/run.out")->id;
  remove_all(ingest);
  // It is asked for the removed one, and reads a new one meanwhile.
  ingest.ask_for_verdicts({removed});
  set_age("a/run.out", hours(1));
  write("c/run.out", nemo_lines(0, 10));
  ASSERT_TRUE(eventually([&] { return steps_of("c/run.out").size() == 10; }));
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(removed_count(), 2U);
  append("b/run.out", nemo_lines(20, 30));
  EXPECT_TRUE(eventually([&] { return steps_of("b/run.out").size() == 50; }))
      << "it comes as a whole";
  append("b/run.out", nemo_lines(50, 1));
  EXPECT_TRUE(eventually([&] { return steps_of("b/run.out").size() == 51; }));
  EXPECT_EQ(count(), 2);
  EXPECT_TRUE(ingest.status().files_parked == 0);
}

// Removed and grown at once, again and again: whoever comes first, the log is there as a whole at
// the end.
TEST_F(IngestRemoval, OfALogThatGrowsLosesNoStepOfIt) {
  write("run.out", nemo_lines(0, 5, 400));
  Ingest ingest(options(), {});
  ingest.start();
  int steps = 5;
  for (int i = 0; i < 40; ++i) {
    append("run.out", nemo_lines(steps, 5, 400));
    steps += 5;
    const auto runs = planned();
    EXPECT_TRUE(eventually([&] {
      return ingest.write([this, runs](storage::Writer& writer) {
        writer.remove_logs(everything(), runs, later());
      });
    }));
    if (i % 8 == 0) {
      ASSERT_TRUE(eventually([&] {
        const auto found = steps_of("run.out").size();
        return found == 0 || found == static_cast<std::size_t>(steps);
      }));
    }
  }
  append("run.out", nemo_lines(steps, 1, 400));
  EXPECT_TRUE(eventually(
      [&] { return steps_of("run.out").size() == static_cast<std::size_t>(steps) + 1; }));
  EXPECT_EQ(count(), 1);
}

// Two policies of a daemon, whose writer stops meanwhile or not.
TEST_F(IngestRemoval, ByPolicyGoesThroughTheOneWriter) {
  for (int i = 0; i < 40; ++i) {
    const std::string log = std::to_string(i) + "/run.out";
    write(log, nemo_lines(0, 10));
    set_age(log, hours(24 * (i % 2 == 0 ? 500 : 3)));
  }
  const auto older_than = [](int days) -> RetentionRule {
    return [days](parser::Instant now) {
      storage::RetentionPolicy policy;
      policy.words = "older than " + std::to_string(days) + "d";
      policy.grown_before = parser::instant_text(now - hours(24 * days));
      return policy;
    };
  };
  Ingest ingest(options(), {});
  std::atomic<int> told = 0;
  const Retention::Links links = {
      database_,
      [&](std::function<void(storage::Writer&)> task) { return ingest.write(std::move(task)); },
      [&] { return ingest.status().first_scan_done && count() == 40; }, [&] { ++told; }};
  {
    Retention never({older_than(400)}, links);
    never.start();
    EXPECT_FALSE(never.status().passed_at);
  }
  Retention retention({older_than(400), older_than(450)}, links);
  ingest.start();
  retention.start();
  EXPECT_TRUE(eventually([&] { return retention.status().passed_at.has_value(); }));
  EXPECT_EQ(retention.status().removed.runs, 20);
  EXPECT_EQ(retention.status().removed.steps, 200);
  EXPECT_EQ(retention.status().error, "");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(count(), 20);
  // A writer that is gone holds nobody up.
  ingest.stop();
  Retention late({older_than(1)}, {database_, links.write, [] { return true; }, [] {}});
  late.start();
  EXPECT_TRUE(eventually([&] { return late.status().is_removing; }));
  late.stop();
  EXPECT_EQ(count(), 20);
}

}  // namespace
}  // namespace llmb::ingest
