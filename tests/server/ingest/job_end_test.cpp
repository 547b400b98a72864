// What Slurm says of a job's end reaches the run of its log at once, and after a restart.
#include <gmock/gmock.h>

#include "storage/job_store.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using parser::RunStatus;
using storage::JobState;
using ::testing::HasSubstr;

const std::string kLog = "experiments/e/e_1751000000/e/log-acct.e_4711_0.out";
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
    ingest_ = std::make_unique<Ingest>(std::move(with_clock), [](const RunChange&) {});
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
  bool becomes(RunStatus status, const std::string& log = kLog) {
    return eventually([&] {
      const auto run = run_of(log);
      return run && run->summary.status == status;
    });
  }
  parser::RunSummary summary(const std::string& log = kLog) { return run_of(log)->summary; }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  storage::JobStore store_;
  storage::JobRowId id_ = 0;
  std::unique_ptr<Ingest> ingest_;
};

TEST_F(EndOfJob, ReachesItsRun) {
  write(kLog, nemo_lines(0, 20));
  start();
  ASSERT_TRUE(becomes(RunStatus::running));
  job_becomes(JobState::node_failed);
  ASSERT_TRUE(becomes(RunStatus::failed));
  EXPECT_EQ(summary().failure_cause, "node_failure");
  EXPECT_THAT(summary().status_reason, HasSubstr("the scheduler says of its job: node_failed"));
  // What was still on its way is read, and changes nothing of the verdict.
  append(kLog, nemo_lines(20, 3));
  ASSERT_TRUE(eventually([&] {
    clock_->move(std::chrono::milliseconds(10));
    return steps_of(kLog).size() == 23;
  }));
  EXPECT_EQ(summary().failure_cause, "node_failure");
}

TEST_F(EndOfJob, ThatCameWhileNobodyLookedIsFoundAtTheNextStart) {
  write(kLog, nemo_lines(0, 20));
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
  write(kLog,
        "llmb-step-runner: No CUDA GPUs are available to this program: it was built without the "
        "CUDA backend. --backend cpu trains a proxy\n"
        "slurmstepd: error: *** STEP 4711.0 ON node1 CANCELLED AT 2026-01-01T00:00:00 ***\n");
  job_becomes(JobState::cancelled);
  start();
  ASSERT_TRUE(becomes(RunStatus::failed));
  EXPECT_EQ(summary().failure_cause, "gpu_unavailable");
}

TEST_F(EndOfJob, IsNoFailureOfARunThatHasAllItsSteps) {
  write(kLog, nemo_lines(0, 50));
  job_becomes(JobState::failed, 0, 1);
  start();
  ASSERT_TRUE(becomes(RunStatus::complete));
  EXPECT_EQ(summary().failure_cause, "");
}

TEST_F(EndOfJob, OfAStartBeforeARequeueIsAnEndOnly) {
  write(kLog, nemo_lines(0, 20));
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

}  // namespace
}  // namespace llmb::ingest
