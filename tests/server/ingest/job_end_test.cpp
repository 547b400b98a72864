// What Slurm says of a job's end reaches the run of its log at once, and after a restart.
#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "storage/job_store.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using parser::RunStatus;
using storage::JobState;
using ::testing::HasSubstr;

const std::string kEndedLog = "experiments/e/e_1751000000/e/log-acct.e_4711_0.out";
const std::string kNextStart = "experiments/e/e_1751000000/e/log-acct.e_4711_1.out";

// The clock hardly moves: no silence ever grows long enough to tell of an end.
class EndOfJob : public TreeTest {
 protected:
  EndOfJob() : store_({database_, true}) {
    storage::JobRecord job;
    job.submission_id = "mark";
    job.cluster = "test";
    job.job_id = 4711;
    job.submit_time_s = 1'000;
    job.state = JobState::running;
    job.experiment = "e";
    job.launch_id = "e_1751000000";
    job.created_at = job.updated_at = "2026-01-01T00:00:00Z";
    id_ = store_.insert(job);
  }
  void start() {
    auto with_clock = options();
    with_clock.clock = clock_;
    ingest_ = std::make_unique<Ingest>(std::move(with_clock), [](const storage::RunChange&) {});
    ingest_->start();
  }
  // As the poller does.
  void job_becomes(JobState state, std::int64_t restart_count = 0,
                   std::optional<std::int64_t> exit_code = {}) {
    storage::JobRecord job = *store_.job(id_);
    job.state = state;
    job.restart_count = restart_count;
    job.exit_code = exit_code;
    ASSERT_TRUE(store_.update(job));
    if (ingest_) ingest_->ask_for_verdicts(store_.runs_of(job));
  }
  bool becomes(RunStatus status, const std::string& log = kEndedLog) {
    return eventually([&] {
      const auto run = run_of(log);
      return run && run->summary.status == status;
    });
  }
  parser::RunSummary summary(const std::string& log = kEndedLog) { return run_of(log)->summary; }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  storage::JobStore store_;
  storage::JobRowId id_ = 0;
  std::unique_ptr<Ingest> ingest_;
};

TEST_F(EndOfJob, ReachesItsRun) {
  write(kEndedLog, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::running));
  job_becomes(JobState::node_failed);
  ASSERT_TRUE(becomes(RunStatus::failed));
  EXPECT_EQ(summary().failure_cause, "node_failure");
  EXPECT_THAT(summary().status_reason, HasSubstr("the scheduler says of its job: node_failed"));
  // What was still on its way is read, and changes nothing of the verdict.
  append(kEndedLog, nemo_lines(20, 3));
  ASSERT_TRUE(eventually([&] {
    clock_->move(std::chrono::milliseconds(10));
    return steps_of(kEndedLog).size() == 23;
  }));
  EXPECT_EQ(summary().failure_cause, "node_failure");
}

TEST_F(EndOfJob, ThatCameWhileNobodyLookedIsFoundAtTheNextStart) {
  write(kEndedLog, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::running));
  ingest_.reset();
  job_becomes(JobState::failed, 0, 9);
  start();
  ASSERT_TRUE(becomes(RunStatus::failed));
  EXPECT_EQ(summary().failure_cause, "job_exited");
  EXPECT_THAT(summary().status_reason, HasSubstr("failed, exit code 9"));
}

TEST_F(EndOfJob, YieldsToTheCauseThatTheLogShows) {
  write(kEndedLog,
        "llmb-step-runner: No CUDA GPUs are available to this program: it was built without the "
        "CUDA backend. --backend cpu trains a proxy\n"
        "slurmstepd: error: *** STEP 4711.0 ON node1 CANCELLED AT 2026-01-01T00:00:00 ***\n");
  job_becomes(JobState::cancelled);
  start();
  ASSERT_TRUE(becomes(RunStatus::failed));
  EXPECT_EQ(summary().failure_cause, "gpu_unavailable");
}

TEST_F(EndOfJob, IsNoFailureOfARunThatHasAllItsSteps) {
  write(kEndedLog, nemo_lines(0, 50));
  job_becomes(JobState::failed, 0, 1);
  start();
  ASSERT_TRUE(becomes(RunStatus::complete));
  EXPECT_EQ(summary().failure_cause, "");
}

TEST_F(EndOfJob, OfAStartBeforeARequeueIsAnEndOnly) {
  write(kEndedLog, nemo_lines(0, 20));
  write(kNextStart, nemo_lines(0, 5));
  start();
  ASSERT_TRUE(becomes(RunStatus::running));
  job_becomes(JobState::running, 1);
  ASSERT_TRUE(becomes(RunStatus::incomplete));
  ASSERT_TRUE(becomes(RunStatus::running, kNextStart));
  job_becomes(JobState::out_of_memory, 1);
  ASSERT_TRUE(becomes(RunStatus::failed, kNextStart));
  EXPECT_EQ(summary(kNextStart).failure_cause, "host_oom_kill");
  EXPECT_EQ(summary().status, RunStatus::incomplete);
}

TEST_F(EndOfJob, OfAnotherLaunchWithTheSameNumberMeansNothing) {
  const std::string other = "experiments/e/e_1752000000/e/log-acct.e_4711_0.out";
  write(other, nemo_lines(0, 20));
  job_becomes(JobState::failed, 0, 1);
  start();
  ASSERT_TRUE(becomes(RunStatus::running, other));
}

// In the tree of 2024 no launch tells two jobs of one number and experiment apart.
TEST_F(EndOfJob, OfAnotherClustersJobWithTheSameNumberMeansNothing) {
  const std::string log = "results/24.11/fp8/314b/512/log-nemo_grok1_314b_512_88_0.out";
  const auto insert = [&](const std::string& cluster, JobState state) {
    storage::JobRecord job;
    job.submission_id = cluster;
    job.cluster = cluster;
    job.job_id = 88;
    job.submit_time_s = 1'000;
    job.state = state;
    job.experiment = "nemo_grok1_314b_512";
    job.launch_id = "nemo_grok1_314b_512_1751000000";
    job.created_at = job.updated_at = "2026-01-01T00:00:00Z";
    return store_.insert(job);
  };
  const storage::JobRowId of_alpha = insert("alpha", JobState::node_failed);
  const storage::JobRowId of_beta = insert("beta", JobState::running);
  const storage::JobRowId of_gamma = insert("gamma", JobState::cancelled);
  auto two_roots = options();
  two_roots.clock = clock_;
  two_roots.roots = {{tree_path("a"), "alpha"}, {tree_path("b"), "beta"}};
  for (const char* root : {"a/", "b/"}) write(root + log, nemo_lines(0, 20));
  ingest_ = std::make_unique<Ingest>(two_roots, [](const storage::RunChange&) {});
  ingest_->start();
  std::vector<storage::RunRecord> runs;
  ASSERT_TRUE(eventually([&] {
    runs.clear();
    storage::Reader reader(database_);
    for (const storage::RootRecord& root : reader.roots()) {
      if (const auto run = reader.run_at(root.id, log)) runs.push_back(*run);
    }
    return runs.size() == 2 && runs[0].step_count == 20 && runs[1].step_count == 20;
  }));
  EXPECT_EQ(runs[0].summary.failure_cause, "node_failure");
  EXPECT_EQ(runs[1].summary.status, RunStatus::running);
  storage::Reader reader(database_);
  EXPECT_EQ(reader.job_of(runs[0].id)->id, of_alpha);
  EXPECT_EQ(reader.job_of(runs[1].id)->id, of_beta);
  EXPECT_EQ(store_.runs_of(*store_.job(of_alpha)), std::vector<storage::RunId>{runs[0].id});
  EXPECT_EQ(store_.runs_of(*store_.job(of_beta)), std::vector<storage::RunId>{runs[1].id});
  EXPECT_TRUE(store_.runs_of(*store_.job(of_gamma)).empty());
}

// A root without a cluster's name holds the jobs of any.
class JobsOfTwoClusters : public EndOfJob {
 protected:
  storage::JobRowId insert(const std::string& cluster, const std::string& tree, JobState state) {
    storage::JobRecord job;
    job.submission_id = job.cluster = cluster;
    job.job_id = 89;
    job.submit_time_s = 1'000;
    job.state = state;
    job.experiment = "nemo_grok1_314b_512";
    job.launch_id = "nemo_grok1_314b_512_1751000000";
    job.run_folder = tree + '/' + job.launch_id + '/' + job.experiment;
    job.created_at = job.updated_at = "2026-01-01T00:00:00Z";
    return store_.insert(job);
  }
  std::optional<storage::JobRowId> job_of(const std::string& log) {
    const auto job = storage::Reader(database_).job_of(run_of(log)->id);
    return job ? std::optional(job->id) : std::nullopt;
  }
  using Runs = std::vector<storage::RunId>;
  Runs runs_of(storage::JobRowId job) { return store_.runs_of(*store_.job(job)); }

  const std::string folder_ = "results/24.11/fp8/314b/512";
  const std::string log_ = "log-nemo_grok1_314b_512_89_0.out";
};

TEST_F(JobsOfTwoClusters, HaveTheRunsOfTheirOwnTreesBelowOneRoot) {
  const std::string of_a = "a/" + folder_ + '/' + log_;
  const std::string of_b = "b/" + folder_ + '/' + log_;
  const auto alpha = insert("alpha", tree_path("a/" + folder_), JobState::out_of_memory);
  const auto beta = insert("beta", tree_path("b/" + folder_), JobState::running);
  for (const std::string& log : {of_a, of_b}) write(log, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::failed, of_a));
  EXPECT_EQ(summary(of_a).failure_cause, "host_oom_kill");
  ASSERT_TRUE(becomes(RunStatus::running, of_b));
  EXPECT_EQ(job_of(of_a), alpha);
  EXPECT_EQ(job_of(of_b), beta);
  EXPECT_EQ(runs_of(alpha), Runs{run_of(of_a)->id});
  EXPECT_EQ(runs_of(beta), Runs{run_of(of_b)->id});
}

TEST_F(JobsOfTwoClusters, AreToldApartWhereOnlyOneWritesBelowTheRoot) {
  const std::string log = folder_ + '/' + log_;
  const auto alpha = insert("alpha", tree_path(folder_), JobState::out_of_memory);
  const auto beta = insert("beta", "/elsewhere/" + folder_, JobState::running);
  write(log, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::failed, log));
  EXPECT_EQ(job_of(log), alpha);
  EXPECT_EQ(runs_of(alpha), Runs{run_of(log)->id});
  EXPECT_TRUE(runs_of(beta).empty());
}

TEST_F(JobsOfTwoClusters, HaveNoRunWhereNobodyKnowsWhoseItIs) {
  const std::string log = folder_ + '/' + log_;
  const auto alpha = insert("alpha", "/a/" + folder_, JobState::out_of_memory);
  const auto beta = insert("beta", "/b/" + folder_, JobState::node_failed);
  write(log, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::running, log));
  EXPECT_EQ(job_of(log), std::nullopt);
  EXPECT_TRUE(runs_of(alpha).empty());
  EXPECT_TRUE(runs_of(beta).empty());
}

}  // namespace
}  // namespace llmb::ingest
