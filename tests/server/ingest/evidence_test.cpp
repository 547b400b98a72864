// What ingest stores beside steps: causes of failures, checkpoints, NCCL traces, profiles.
#include <sys/stat.h>

#include "server/ingest/profile_listing.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

const std::string kFolder = "experiments/e/e_1751000000/e/";
const std::string kEvidenceLog = kFolder + "log-acct.e_4711_0.out";

class IngestEvidence : public TreeTest {};

TEST_F(IngestEvidence, OfALogIsStoredWithItsSteps) {
  write(kEvidenceLog,
        nemo_lines(0, 20) +
            "[NeMo I 2025-04-11 14:48:45 nemo_logging:393] Global Checkpoint Save : Rank: 0 : "
            "Iteration: 19 : Start time: 1.151s : Save duration: 4.389s\n"
            "h:1:2 [0] NCCL INFO AllReduce: opCount a sendbuff 0x1 recvbuff 0x2 count 4 "
            "datatype 7 op 0 root 0 comm 0x3 [nranks=8] stream 0x5\n"
            "| MnRtt/Rnk: 700.5ms/1 | MxRtt/Rnk: 760.25ms/9\n"
            "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB.\n");
  set_age(kEvidenceLog, std::chrono::hours(1));
  ingest_once();
  const auto run = run_of(kEvidenceLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->summary.status, parser::RunStatus::failed);
  EXPECT_EQ(run->summary.failure_cause, "cuda_oom");
  ASSERT_EQ(run->facts.events.size(), 1U);
  EXPECT_EQ(run->facts.events[0].rank, 5);
  ASSERT_EQ(run->facts.checkpoints.size(), 1U);
  EXPECT_EQ(run->facts.checkpoints[0].duration_s, 4.389);
  ASSERT_EQ(run->facts.nccl.uses.size(), 1U);
  EXPECT_EQ(run->facts.nccl.uses[0].element_count, 4);
  ASSERT_EQ(run->facts.ranks.measures.size(), 2U);
  EXPECT_EQ(run->facts.ranks.measures[1].rank, 9);
  EXPECT_FALSE(run->is_profiled);
}

TEST_F(IngestEvidence, OfASilentLogIsThatItHung) {
  write(kEvidenceLog, nemo_lines(0, 40));
  set_age(kEvidenceLog, std::chrono::hours(1));
  ingest_once();
  const auto run = run_of(kEvidenceLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->summary.status, parser::RunStatus::incomplete);
  EXPECT_EQ(run->summary.failure_cause, "hung");
  EXPECT_NE(run->summary.status_reason.find("step times"), std::string::npos);
}

TEST_F(IngestEvidence, OfALogThatHungStaysWhenItIsJudgedDaysLater) {
  write(kEvidenceLog, nemo_lines(0, 40));
  set_age(kEvidenceLog, std::chrono::hours(1));
  ingest_once();
  ASSERT_EQ(run_of(kEvidenceLog)->summary.failure_cause, "hung");
  auto later = options();
  const auto clock = std::make_shared<ManualClock>();
  clock->move(std::chrono::hours(48));
  later.clock = clock;
  later.roots.front().gpu_type = "h100";  // news of the tree
  ingest_once(later);
  const auto run = run_of(kEvidenceLog);
  EXPECT_EQ(run->configuration.value("gpu_type"), "h100") << "it was judged anew";
  EXPECT_EQ(run->summary.failure_cause, "hung");
}

TEST_F(IngestEvidence, OfALogOfLastYearIsSinceWhenItIsSilent) {
  write(kEvidenceLog, nemo_lines(0, 40));
  set_age(kEvidenceLog, std::chrono::hours(24 * 400));
  ingest_once();
  const auto run = run_of(kEvidenceLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->summary.status, parser::RunStatus::incomplete);
  EXPECT_EQ(run->summary.failure_cause, "");
  EXPECT_NE(run->summary.status_reason.find("; the log shows no cause, and is silent since " +
                                            run->grown_at.substr(0, 10)),
            std::string::npos)
      << run->summary.status_reason;
}

// Steps of 7.5 s, far from the window: twenty of them are 150 s, long before the run counts as
// over.
TEST_F(IngestEvidence, OfARunningLogIsThatItHangsUntilItGoesOn) {
  const auto clock = std::make_shared<ManualClock>();
  auto with_clock = options();
  with_clock.clock = clock;
  std::atomic<int> status_changes = 0;
  Ingest ingest(with_clock, [&](const storage::RunChange& change) {
    if (change.kind == storage::RunChange::Kind::status) ++status_changes;
  });
  ingest.start();
  write(kEvidenceLog, nemo_lines(0, 4));
  ASSERT_TRUE(eventually([&] {
    clock->move(std::chrono::milliseconds(2));
    return steps_of(kEvidenceLog).size() == 4;
  }));
  EXPECT_EQ(run_of(kEvidenceLog)->summary.failure_cause, "");

  clock->move(std::chrono::seconds(100));  // not yet, however often it is looked at
  EXPECT_EQ(run_of(kEvidenceLog)->summary.failure_cause, "");
  ASSERT_TRUE(eventually([&] {
    clock->move(std::chrono::seconds(1));
    return run_of(kEvidenceLog)->summary.failure_cause == "hung";
  }));
  const auto hung = run_of(kEvidenceLog)->summary;
  EXPECT_EQ(hung.status, parser::RunStatus::running);
  ASSERT_TRUE(hung.silent_s);
  EXPECT_GE(*hung.silent_s, 150);
  EXPECT_EQ(status_changes, 1) << "said once";

  append(kEvidenceLog, nemo_lines(4, 2));  // it goes on
  ASSERT_TRUE(eventually([&] {
    clock->move(std::chrono::milliseconds(10));
    return steps_of(kEvidenceLog).size() == 6 &&
           run_of(kEvidenceLog)->summary.failure_cause.empty();
  }));
  EXPECT_EQ(run_of(kEvidenceLog)->summary.status, parser::RunStatus::running);
  EXPECT_EQ(run_of(kEvidenceLog)->summary.silent_s, std::nullopt);
}

TEST_F(IngestEvidence, OfASecondLookIsWhatTheFirstCouldNotKnow) {
  write(kEvidenceLog, nemo_lines(0, 4));
  set_age(kEvidenceLog, std::chrono::seconds(60));
  ingest_once();
  EXPECT_EQ(run_of(kEvidenceLog)->summary.failure_cause, "");  // eight steps
  auto later = options();
  const auto clock = std::make_shared<ManualClock>();
  clock->move(std::chrono::seconds(100));
  later.clock = clock;
  ingest_once(later);
  const auto run = run_of(kEvidenceLog);
  EXPECT_EQ(run->summary.status, parser::RunStatus::running);
  EXPECT_EQ(run->summary.failure_cause, "hung");
  const auto revision = run->revision;
  ingest_once(later);
  EXPECT_EQ(run_of(kEvidenceLog)->revision, revision) << "an unchanged verdict is not stored again";
}

// The configuration that a log states stays when a llmb-config comes later.
TEST_F(IngestEvidence, OfTheConfigurationIsWhatTheLogStates) {
  write(kEvidenceLog,
        "GPU 0: NVIDIA GB200 (UUID: GPU-1)\nGLOBAL_RANK: 0, MEMBER: 1/64\n" + nemo_lines(0, 50));
  ingest_once();
  write(kFolder + "llmb-config_4711.yaml", "model_info:\n  gpu_type: h100\n  dtype: fp8\n");
  ingest_once();
  const auto run = run_of(kEvidenceLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->configuration.get("gpu_count"),
            (parser::ConfigValue{"64", parser::ConfigSource::log_content}));
  EXPECT_EQ(run->configuration.value("gpu_type"), "h100");
  EXPECT_EQ(run->configuration.conflicting_keys(), std::vector<std::string>{"gpu_type"});
}

TEST_F(IngestEvidence, OfAProfilerIsWhatLiesBesideTheLog) {
  write(kEvidenceLog, nemo_lines(0, 50));
  write(kFolder + "nsys_profile/profile_4711_1_7.nsys-rep", "12345");
  write(kFolder + "nsys_profile/profile_4712_0_0.nsys-rep", "another job's");
  write(kFolder + "nsys_profile/notes.txt", "x");
  set_age(kEvidenceLog, std::chrono::hours(1));
  ingest_once();
  const auto run = run_of(kEvidenceLog);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->is_profiled);
  ASSERT_EQ(run->profiles.size(), 1U);
  EXPECT_EQ(run->profiles[0].relative_path, kFolder + "nsys_profile/profile_4711_1_7.nsys-rep");
  EXPECT_EQ(run->profiles[0].size_bytes, 5U);
  EXPECT_EQ(run->profiles[0].name.node, 1);
  EXPECT_EQ(run->profiles[0].name.local_rank, 7);
}

TEST_F(IngestEvidence, OfAProfilerLeavesLinksAlone) {
  write(kEvidenceLog, "x");
  write("../outside/profile_1.nsys-rep", "secret");
  std::filesystem::create_directory_symlink(folder_ / "outside",
                                            tree_path(kFolder + "nsys_profile"));
  const auto root = RootDirectory::open(tree_);
  ASSERT_TRUE(root.has_value());
  const auto profiles = list_profiles(*root, kEvidenceLog, std::nullopt);
  EXPECT_TRUE(!profiles || profiles->empty());
  EXPECT_TRUE(list_profiles(*root, "no/such/log.out", std::nullopt)->empty());
}

}  // namespace
}  // namespace llmb::ingest
