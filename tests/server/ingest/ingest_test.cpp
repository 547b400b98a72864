// What ingest does as a whole: trees in, rows out.
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kLog =
    "experiments/pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024/"
    "pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024_1751000000/"
    "pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024/"
    "log-acct.pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024_4711_0.out";

class IngestOnce : public TreeTest {};
class IngestFollow : public TreeTest {};

TEST_F(IngestOnce, StoresEveryStepOfEveryLog) {
  write(kLog, nemo_lines(0, 50));
  write("other.out", "nothing that trains\n");
  set_age(kLog, hours(1));
  set_age("other.out", hours(1));
  const auto status = ingest_once();
  EXPECT_EQ(status.files_seen, 2);
  EXPECT_EQ(status.files_pending, 0);
  EXPECT_EQ(status.samples_committed, 50);
  EXPECT_EQ(steps_of(kLog).size(), 50U);
  const auto run = run_of(kLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->summary.status, parser::RunStatus::complete);
  EXPECT_EQ(run->path.job_id, 4711);
  EXPECT_EQ(run->configuration.value("gpu_count"), "512");
  EXPECT_EQ(run_of("other.out")->summary.status, parser::RunStatus::no_data);
}

TEST_F(IngestOnce, ReadsNothingAgainAfterARestart) {
  write(kLog, nemo_lines(0, 50));
  write("unfinished.out", nemo_lines(0, 20) + "Training epoch 0, iterat");
  write("empty.out", "");
  for (const auto* log : {"unfinished.out", "empty.out"}) set_age(log, hours(1));
  EXPECT_GT(ingest_once().bytes_read, 0U);
  const auto again = ingest_once();
  EXPECT_EQ(again.bytes_read, 0U);
  EXPECT_EQ(again.files_seen, 3);
  EXPECT_EQ(steps_of(kLog).size(), 50U);
}

TEST_F(IngestOnce, GoesOnWhereItStoppedWhenALogHasGrown) {
  write(kLog, nemo_lines(0, 20) + "Training epoch 0, ite");
  ingest_once();
  EXPECT_EQ(steps_of(kLog).size(), 20U);
  write(kLog, nemo_lines(0, 50));
  const auto status = ingest_once();
  EXPECT_EQ(steps_of(kLog).size(), 50U);
  EXPECT_LT(status.bytes_read, nemo_lines(20, 30).size() + 2'000);
  EXPECT_EQ(run_of(kLog)->generation, 0);
  EXPECT_EQ(run_of(kLog)->summary.status, parser::RunStatus::complete);
}

TEST_F(IngestOnce, TakesASymlinkedRootButNoLinkInside) {
  write("run.out", nemo_lines(0, 5));
  const std::string outside = folder_.string() + "/outside";
  std::filesystem::create_directory(outside);
  std::filesystem::rename(tree_path("run.out"), outside + "/secret.out");
  write("run.out", nemo_lines(0, 5));
  std::filesystem::create_directory_symlink("..", tree_path("loop"));
  std::filesystem::create_directory_symlink(outside, tree_path("away"));
  std::filesystem::create_symlink(outside + "/secret.out", tree_path("link.out"));
  std::filesystem::create_directory_symlink(tree_, folder_ / "alias");
  auto with_alias = options();
  with_alias.roots = {{(folder_ / "alias").string(), {}}};
  EXPECT_EQ(ingest_once(with_alias).files_seen, 1);
  EXPECT_EQ(storage::Reader(database_).run_count({}), 1);
}

TEST_F(IngestOnce, OpensNeitherFifoNorSocketNorAFolderNamedLikeALog) {
  std::filesystem::create_directories(tree_path("folder.out"));
  write("folder.out/run.out", nemo_lines(0, 5));
  ASSERT_EQ(mkfifo(tree_path("pipe.out").c_str(), 0600), 0);
  ASSERT_EQ(mknod(tree_path("socket.out").c_str(), S_IFSOCK | 0600, 0), 0);
  const auto status = ingest_once();
  EXPECT_EQ(status.files_seen, 1);
  EXPECT_EQ(steps_of("folder.out/run.out").size(), 5U);
}

TEST_F(IngestOnce, ReportsAMissingRootAndReadsTheOther) {
  write("run.out", nemo_lines(0, 5));
  auto both = options();
  both.roots.insert(both.roots.begin(), {folder_.string() + "/not_there", {}});
  const auto status = ingest_once(both);
  ASSERT_EQ(status.root_errors.size(), 1U);
  EXPECT_NE(status.root_errors[0].find("not_there"), std::string::npos);
  EXPECT_EQ(steps_of("run.out").size(), 5U);
}

TEST_F(IngestOnce, ReadsARootInsideARootOnce) {
  write("inner/run.out", nemo_lines(0, 5));
  write("run.out", nemo_lines(0, 5));
  auto nested = options();
  nested.roots = {{tree_, {}}, {tree_path("inner"), {}}, {tree_path("inner/"), {}}};
  EXPECT_EQ(ingest_once(nested).files_seen, 2);
  EXPECT_EQ(storage::Reader(database_).run_count({}), 2);
}

TEST_F(IngestOnce, CountsAnUnterminatedLastLineOnceTheLogIsSilent) {
  std::string text = nemo_lines(0, 50);
  text.pop_back();
  write(kLog, text);
  ingest_once();
  EXPECT_EQ(steps_of(kLog).size(), 49U) << "the log may still grow";
  auto later = options();
  const auto clock = std::make_shared<ManualClock>();
  clock->move(hours(1));
  later.clock = clock;
  ingest_once(later);
  EXPECT_EQ(steps_of(kLog).size(), 50U);
  EXPECT_EQ(run_of(kLog)->summary.status, parser::RunStatus::complete);
  EXPECT_EQ(ingest_once(later).bytes_read, 0U);
  append(kLog, "\nTraining finished\n");
  ingest_once(later);
  EXPECT_EQ(steps_of(kLog).size(), 50U) << "the line that was read again is not a new one";
}

TEST_F(IngestOnce, TakesGarbageWithoutHarm) {
  std::string garbage;
  for (unsigned i = 0; i < 300'000; ++i) garbage += static_cast<char>((i * 7919) >> 3);
  write("garbage.out", garbage);
  write("nul.out", std::string(200'000, '\0') + "\n" + nemo_lines(0, 5));
  write("one_line.out", std::string(3'000'000, 'x'));
  write("long_line.out", std::string(3'000'000, 'x') + "\n" + nemo_lines(0, 5));
  write("run.out", nemo_lines(0, 5));
  for (const char* log : {"garbage.out", "one_line.out"}) set_age(log, hours(1));
  const auto status = ingest_once();
  EXPECT_EQ(status.files_parked, 0);
  EXPECT_EQ(run_of("garbage.out")->summary.status, parser::RunStatus::no_data);
  EXPECT_EQ(steps_of("nul.out").size(), 5U);
  EXPECT_EQ(steps_of("long_line.out").size(), 5U);
  EXPECT_EQ(run_of("long_line.out")->facts.lines_too_long, 1);
  EXPECT_EQ(steps_of("run.out").size(), 5U);
}

TEST_F(IngestOnce, ReadsALogLargerThanOneSliceInSeveralCommits) {
  // 40,000 steps are more than one tick takes.
  write("large.out", nemo_lines(0, 40'000, 39'999));
  set_age("large.out", hours(100));
  const auto status = ingest_once();
  EXPECT_EQ(status.samples_committed, 40'000);
  EXPECT_EQ(run_of("large.out")->step_count, 40'000);
  EXPECT_EQ(run_of("large.out")->summary.status, parser::RunStatus::complete);
}

TEST_F(IngestOnce, BeginsANewGenerationWhenALogWasRewritten) {
  write(kLog, nemo_lines(0, 50));
  ingest_once();
  const auto before = run_of(kLog);
  write(kLog, nemo_lines(0, 60, 59, 9.0));
  ingest_once();
  const auto after = run_of(kLog);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->generation, 1);
  EXPECT_EQ(after->step_count, 60);
  storage::Reader reader(database_);
  EXPECT_TRUE(reader.run(before->id)->is_superseded);
  EXPECT_EQ(reader.steps(before->id).size(), 50U) << "old rows are kept";
  EXPECT_EQ(reader.run_count({}), 1);
}

TEST_F(IngestOnce, KeepsTheGenerationOfACopyThatGotANewInode) {
  write(kLog, nemo_lines(0, 20));
  ingest_once();
  write("fresh", nemo_lines(0, 50));
  std::filesystem::rename(tree_path("fresh"), tree_path(kLog));
  ingest_once();
  EXPECT_EQ(run_of(kLog)->generation, 0);
  EXPECT_EQ(steps_of(kLog).size(), 50U);
}

TEST_F(IngestOnce, TellsARewriteOfEqualSize) {
  write(kLog, nemo_lines(0, 20));
  set_age(kLog, hours(2));
  ingest_once();
  std::string other = nemo_lines(0, 20);
  other.replace(other.find("lr: "), 5, "lr: 9");
  write(kLog, other);
  set_age(kLog, hours(1));
  ingest_once();
  EXPECT_EQ(run_of(kLog)->generation, 1);
}

TEST_F(IngestOnce, StartsASegmentWhenARequeueAppends) {
  write(kLog, nemo_lines(0, 30));
  ingest_once();
  append(kLog, nemo_lines(10, 40));
  ingest_once();
  const auto run = run_of(kLog);
  EXPECT_EQ(run->generation, 0);
  ASSERT_EQ(run->facts.segments.size(), 2U);
  EXPECT_EQ(run->facts.segments[1].first_iteration, 10);
  EXPECT_EQ(run->step_count, 70);
}

TEST_F(IngestOnce, NotesWhatVanishedAndKeepsItsData) {
  write(kLog, nemo_lines(0, 50));
  ingest_once();
  std::filesystem::remove(tree_path(kLog));
  ingest_once();
  EXPECT_TRUE(run_of(kLog)->vanished_at.has_value());
  EXPECT_EQ(steps_of(kLog).size(), 50U);
}

TEST_F(IngestOnce, KeepsARunWhoseLogWasCompressedByWhatIsNotUnpacked) {
  const std::string other = "x_1/log-a_2_0.out";
  write(kLog, nemo_lines(0, 50));
  write(other, nemo_lines(0, 20));  // running: nothing more of it will be read
  ingest_once();
  ASSERT_EQ(run_of(kLog)->summary.status, parser::RunStatus::complete);
  ASSERT_EQ(run_of(other)->summary.status, parser::RunStatus::running);
  for (const std::string& log : {kLog, other}) {
    write(log + ".lz4", "\x04\x22\x4d\x18");
    std::filesystem::remove(tree_path(log));
  }
  for (int look = 0; look < 2; ++look) {  // the second by a process that has not seen it change
    ingest_once();
    EXPECT_FALSE(run_of(kLog)->vanished_at.has_value());
    EXPECT_EQ(run_of(kLog)->summary.status, parser::RunStatus::complete);
    EXPECT_TRUE(run_of(other)->vanished_at.has_value());
    EXPECT_EQ(run_of(other)->summary.status, parser::RunStatus::incomplete);
  }
  std::filesystem::remove(tree_path(kLog + ".lz4"));
  ingest_once();
  EXPECT_TRUE(run_of(kLog)->vanished_at.has_value()) << "neither form is there";
}

TEST_F(IngestOnce, JudgesARunAsOverWhoseLogIsGone) {
  write(kLog, nemo_lines(0, 20));
  ingest_once();
  ASSERT_EQ(run_of(kLog)->summary.status, parser::RunStatus::running);
  std::filesystem::remove(tree_path(kLog));
  ingest_once();
  const auto gone = run_of(kLog);
  EXPECT_EQ(gone->summary.status, parser::RunStatus::incomplete);
  EXPECT_NE(gone->summary.status_reason.find("iteration 19"), std::string::npos)
      << gone->summary.status_reason;
  EXPECT_NE(gone->summary.status_reason.find("deleted or moved"), std::string::npos);
  const std::int64_t revision = gone->revision;
  ingest_once();
  EXPECT_EQ(run_of(kLog)->revision, revision) << "judged once";
  write(kLog, nemo_lines(0, 50));
  ingest_once();
  EXPECT_EQ(run_of(kLog)->summary.status, parser::RunStatus::complete) << "it is there again";
  EXPECT_EQ(run_of(kLog)->generation, 0);
}

TEST_F(IngestFollow, JudgesARunAsOverWhoseLogIsRenamed) {
  write("a/run.out", nemo_lines(0, 20));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return run_of("a/run.out").has_value(); }));
  std::filesystem::rename(tree_path("a/run.out"), tree_path("a/other.out"));
  EXPECT_TRUE(eventually([&] {
    const auto run = run_of("a/run.out");
    return run && run->summary.status == parser::RunStatus::incomplete;
  }));
  EXPECT_TRUE(eventually([&] {
    const auto run = run_of("a/other.out");
    return run && run->summary.status == parser::RunStatus::running;
  }));
  ingest.stop();
}

TEST_F(IngestFollow, CommitsWhatGrowsAndSaysSo) {
  std::mutex mutex;
  std::vector<storage::RunChange::Kind> kinds;
  Ingest ingest(options(), [&](const storage::RunChange& change) {
    const std::lock_guard lock(mutex);
    kinds.push_back(change.kind);
  });
  ingest.start();
  write(kLog, nemo_lines(0, 3));
  EXPECT_TRUE(eventually([&] { return steps_of(kLog).size() == 3; }));
  append(kLog, nemo_lines(3, 4));
  EXPECT_TRUE(eventually([&] { return steps_of(kLog).size() == 7; }));
  ingest.stop();
  const std::lock_guard lock(mutex);
  ASSERT_GE(kinds.size(), 2U);
  EXPECT_EQ(kinds.front(), storage::RunChange::Kind::added);
  EXPECT_EQ(kinds.back(), storage::RunChange::Kind::grown);
}

TEST_F(IngestFollow, FindsChangesByPollingAloneToo) {
  auto without_events = options();
  without_events.directory_watches_max = 0;
  Ingest ingest(without_events, {});
  ingest.start();
  write("a/b/run.out", nemo_lines(0, 3));
  EXPECT_TRUE(eventually([&] { return steps_of("a/b/run.out").size() == 3; }));
  append("a/b/run.out", nemo_lines(3, 4));
  EXPECT_TRUE(eventually([&] { return steps_of("a/b/run.out").size() == 7; }));
}

TEST_F(IngestFollow, ShowsASilentRunAsIncompleteAndALivelyOneAsRunning) {
  const auto clock = std::make_shared<ManualClock>();
  auto with_clock = options();
  with_clock.clock = clock;
  Ingest ingest(with_clock, {});
  ingest.start();
  write(kLog,
        nemo_lines(0, 20) + "Training epoch 0, iteration 20/49 | train_step_timing in s: 7.5");
  clock->move(seconds(1));
  EXPECT_TRUE(eventually([&] {
    clock->move(milliseconds(100));
    return steps_of(kLog).size() == 20;
  }));
  EXPECT_EQ(run_of(kLog)->summary.status, parser::RunStatus::running);
  clock->move(minutes(11));
  EXPECT_TRUE(eventually([&] {
    clock->move(seconds(1));
    return run_of(kLog)->summary.status == parser::RunStatus::incomplete;
  }));
  EXPECT_EQ(steps_of(kLog).size(), 21U) << "the unterminated line counts now";
}

TEST_F(IngestFollow, PicksUpARootThatAppears) {
  auto later = options();
  later.roots = {{tree_, {}}, {folder_.string() + "/later", {}}};
  Ingest ingest(later, {});
  ingest.start();
  EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.size() == 1; }));
  std::filesystem::create_directory(folder_ / "later");
  write("../later/run.out", nemo_lines(0, 3));
  EXPECT_TRUE(eventually([&] { return steps_of("run.out").size() == 3; }));
  EXPECT_TRUE(ingest.status().root_errors.empty());
  std::filesystem::rename(folder_ / "later", folder_ / "gone");
  EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.size() == 1; }));
  EXPECT_FALSE(run_of("run.out")->vanished_at) << "an unmounted tree has lost no file";
}

TEST_F(IngestFollow, BelievesATruncationOnlyAfterSeveralLooks) {
  write(kLog, nemo_lines(0, 50));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of(kLog).size() == 50; }));
  write(kLog, nemo_lines(0, 2, 49, 8.0));
  EXPECT_TRUE(eventually([&] {
    const auto run = run_of(kLog);
    return run->generation == 1 && run->step_count == 2;
  }));
}

TEST_F(IngestFollow, AppliesALlmbConfigThatComesLater) {
  write(kLog, nemo_lines(0, 50));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of(kLog).size() == 50; }));
  EXPECT_FALSE(run_of(kLog)->configuration.value("gpu_type"));
  const auto launch = std::filesystem::path(kLog).parent_path().parent_path().string();
  write(launch + "/llmb-config_999.yaml", "model_info:\n  gpu_type: wrong\n");
  write(launch + "/llmb-config_4711.yaml", "model_info:\n  gpu_type: h100\n");
  EXPECT_TRUE(eventually([&] { return run_of(kLog)->configuration.value("gpu_type") == "h100"; }));
}

}  // namespace
}  // namespace llmb::ingest
