// Logs that are not simply appended to: first seen empty, written anew, changed in their middle,
// renamed and renamed back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

class IngestRewrite : public TreeTest {
 protected:
  std::int64_t generations() {
    storage::RunFilter all;
    all.include_superseded = true;
    return storage::Reader(database_).run_count(all);
  }
  // The file's own bytes, in place: neither its size nor its time of modification changes.
  void overwrite_secretly(const std::string& relative, std::size_t at, const std::string& bytes) {
    struct stat before {};
    ASSERT_EQ(stat(tree_path(relative).c_str(), &before), 0);
    const int fd = open(tree_path(relative).c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    const timespec times[2] = {before.st_atim, before.st_mtim};
    EXPECT_EQ(futimens(fd, times), 0);
    close(fd);
  }
};

TEST_F(IngestRewrite, KeepsTheRunOfALogThatWasFirstSeenEmpty) {
  write("run.out", "");
  ingest_once();
  append("run.out", "Training ep");
  ingest_once();
  append("run.out", "och none\n" + nemo_lines(0, 5));
  ingest_once();
  EXPECT_EQ(run_of("run.out")->generation, 0);
  EXPECT_EQ(steps_of("run.out").size(), 5U);
  EXPECT_EQ(generations(), 1);
}

TEST_F(IngestRewrite, BringsBackALogThatWasRenamedAndRenamedBack) {
  write("run.out", nemo_lines(0, 50));
  ingest_once();
  std::filesystem::rename(tree_path("run.out"), tree_path("other.out"));
  ingest_once();
  ASSERT_TRUE(run_of("run.out")->vanished_at);
  std::filesystem::rename(tree_path("other.out"), tree_path("run.out"));
  ingest_once();
  EXPECT_FALSE(run_of("run.out")->vanished_at) << "in another process";
  EXPECT_EQ(run_of("run.out")->generation, 0);
  EXPECT_TRUE(run_of("other.out")->vanished_at);
}

TEST_F(IngestRewrite, BringsBackTheLogsOfARootThatWasUnmountedAndMounted) {
  write("a/b/run.out", nemo_lines(0, 50));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of("a/b/run.out").size() == 50; }));
  // What an unmount leaves behind is the empty folder below it.
  std::filesystem::rename(tree_, folder_ / "away");
  std::filesystem::create_directory(tree_);
  EXPECT_TRUE(eventually([&] { return run_of("a/b/run.out")->vanished_at.has_value(); }));
  std::filesystem::remove(tree_);
  std::filesystem::rename(folder_ / "away", tree_);
  EXPECT_TRUE(eventually([&] { return !run_of("a/b/run.out")->vanished_at.has_value(); }));
  EXPECT_EQ(run_of("a/b/run.out")->generation, 0);
}

TEST_F(IngestRewrite, KeepsEveryStepOfALogThatRestartsForEver) {
  std::string restarts;
  for (int i = 0; i < 150; ++i) restarts += nemo_lines(0, 2);
  write("run.out", restarts);
  ingest_once();
  append("run.out", restarts);
  ingest_once();
  EXPECT_EQ(steps_of("run.out").size(), 600U);
  EXPECT_EQ(steps_of("run.out").back().segment, 299);
  const auto run = run_of("run.out");
  EXPECT_EQ(run->facts.segments.size(), parser::kSegmentsMax);
  EXPECT_EQ(run->facts.segments.back().segment, 299);
  EXPECT_EQ(run->summary.segment_count, 300);
}

TEST_F(IngestRewrite, FollowsAFolderThatIsRenamedWithWhatIsInIt) {
  write("a/b/c/run.out", nemo_lines(0, 20));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of("a/b/c/run.out").size() == 20; }));
  std::filesystem::rename(tree_path("a"), tree_path("z"));
  EXPECT_TRUE(eventually([&] { return steps_of("z/b/c/run.out").size() == 20; }));
  EXPECT_TRUE(eventually([&] { return run_of("a/b/c/run.out")->vanished_at.has_value(); }));
  append("z/b/c/run.out", nemo_lines(20, 10));
  EXPECT_TRUE(eventually([&] { return steps_of("z/b/c/run.out").size() == 30; }));
}

// Nothing more is read of what was there before.
TEST_F(IngestRewrite, JudgesTheRunAsOverOfWhatALogHeldBefore) {
  write("run.out", nemo_lines(0, 20));
  ingest_once();
  ASSERT_EQ(run_of("run.out")->summary.status, parser::RunStatus::running);
  write("run.out", nemo_lines(0, 10, 49, 7.5));
  ingest_once();
  EXPECT_EQ(run_of("run.out")->summary.status, parser::RunStatus::running);
  storage::RunQuery all;
  all.filter.include_superseded = true;
  const storage::RunPage page = storage::Reader(database_).runs(all);
  const auto before = std::find_if(page.runs.begin(), page.runs.end(),
                                   [](const storage::RunRecord& run) { return run.is_superseded; });
  ASSERT_NE(before, page.runs.end());
  EXPECT_EQ(before->summary.status, parser::RunStatus::incomplete);
  EXPECT_NE(before->summary.status_reason.find("written anew"), std::string::npos)
      << before->summary.status_reason;
}

TEST_F(IngestRewrite, KeepsTheNewestGenerationsOnly) {
  for (int i = 0; i < 8; ++i) {
    write("run.out", nemo_lines(0, 10 + i, 49, 5.0 + i));
    ingest_once();
    if (i % 2 == 1) {
      write("run.out", "a rewrite without a step, number " + std::to_string(i) + "\n");
      ingest_once();
    }
  }
  EXPECT_EQ(run_of("run.out")->generation, 11);
  EXPECT_EQ(generations(), 4);
  storage::RunQuery all;
  all.filter.include_superseded = true;
  for (const storage::RunRecord& run : storage::Reader(database_).runs(all).runs) {
    if (!run.is_superseded) continue;
    EXPECT_GE(run.step_count, 14) << "generation " << run.generation;
  }
}

TEST_F(IngestRewrite, FindsBytesThatChangedBehindUnchangedSizeAndTime) {
  const std::string text = nemo_lines(0, 400, 399);
  write("run.out", text);
  write("same.out", text);
  for (const char* log : {"run.out", "same.out"}) set_age(log, hours(20));
  const auto clock = std::make_shared<ManualClock>();
  auto checked = options();
  checked.clock = clock;
  checked.content_check_interval = hours(1);
  Ingest ingest(checked, {});
  ingest.start();
  ASSERT_TRUE(eventually(
      [&] { return steps_of("run.out").size() == 400 && steps_of("same.out").size() == 400; }));
  const std::size_t middle = text.find("train_step_timing in s: ", text.size() / 2) + 24;
  overwrite_secretly("run.out", middle, "1");
  clock->move(hours(2));
  EXPECT_TRUE(eventually([&] {
    clock->move(milliseconds(500));
    return run_of("run.out")->generation == 1 && steps_of("run.out").size() == 400;
  }));
  EXPECT_EQ(run_of("same.out")->generation, 0);
}

TEST_F(IngestRewrite, TakesBackTheStepOfALineThatWasCutInsideANumber) {
  const std::string whole =
      "Training epoch 1, iteration 3/9 | lr: 0.1 | global_batch_size: 8 | global_step: 213 | "
      "reduced_train_loss: 5.1 | train_step_timing in s: 7.5\n";
  const std::string before =
      "Training epoch 1, iteration 2/9 | lr: 0.1 | global_batch_size: 8 | global_step: 212 | "
      "reduced_train_loss: 5.1 | train_step_timing in s: 7.5\n";
  write("run.out", before + whole.substr(0, whole.find("213") + 2));
  ingest_once();
  auto later = options();
  const auto clock = std::make_shared<ManualClock>();
  clock->move(hours(1));
  later.clock = clock;
  ingest_once(later);
  ASSERT_TRUE(run_of("run.out"));
  write("run.out", before + whole);
  ingest_once(later);
  const auto steps = steps_of("run.out");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].segment, 0);
  EXPECT_EQ(steps[1].segment, 0);
  EXPECT_EQ(steps[1].iteration, 213);
  EXPECT_EQ(run_of("run.out")->step_count, 2);
  EXPECT_EQ(run_of("run.out")->facts.segments.size(), 1U);
}

TEST_F(IngestRewrite, CountsTheLastStepTimeOfABridgeLogAfterARestart) {
  write("run.out", "Step Time : 7.51s GPU utilization: 801.0MODEL_TFLOP/s/GPU\n");
  ingest_once();
  EXPECT_TRUE(steps_of("run.out").empty()) << "the iteration's line may follow";
  const auto clock = std::make_shared<ManualClock>();
  clock->move(minutes(5));
  auto restarted = options();
  restarted.clock = clock;
  Ingest ingest(restarted, {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return ingest.status().first_scan_done; }));
  clock->move(minutes(10));
  EXPECT_TRUE(eventually([&] {
    clock->move(milliseconds(500));
    return steps_of("run.out").size() == 1;
  }));
}

}  // namespace
}  // namespace llmb::ingest
