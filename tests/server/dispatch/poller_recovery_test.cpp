#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "server/dispatch/poller.h"
#include "server/dispatch/submission_mark.h"
#include "tests/patience.h"
#include "tests/server/dispatch/poller_fixture.h"

namespace llmb::dispatch {
namespace {

using storage::JobRecord;
using testing::Contains;
using testing::HasSubstr;

// What a crash between the row and sbatch's answer leaves.
class PollerRecoveryTest : public PollerTest {
 protected:
  JobRecord lost() {
    slurm_.answers("sbatch", "exit 0");
    return submitted();
  }
};

TEST_F(PollerRecoveryTest, FindsAJobByItsComment) {
  const JobRecord job = lost();
  EXPECT_FALSE(job.job_id);
  const std::string user = R"(,"user_id":)" + std::to_string(geteuid());
  const std::string forger = R"(,"user_id":)" + std::to_string(geteuid() + 1);
  slurm_.queue_holds(queued(job, "RUNNING", forger));
  poller_.poll_once();
  EXPECT_FALSE(now(job).job_id) << "a comment of another user is no proof";
  slurm_.queue_holds(queued(job, "RUNNING", user));
  poller_.poll_once();
  EXPECT_EQ(now(job).job_id, 41);
  EXPECT_EQ(now(job).state, JobState::running);
  EXPECT_EQ(now(job).trouble, "");
}

TEST_F(PollerRecoveryTest, FindsAJobThatIsOverByItsFiles) {
  const JobRecord job = lost();
  SlurmStandIn::write(job.run_folder + "/sbatch_x_57.out", "job exited with code 0\n");
  poller_.poll_once();
  slurm_.answers("sacct", "exit 1");
  poller_.poll_once();
  EXPECT_EQ(now(job).job_id, 57);
  EXPECT_EQ(now(job).state, JobState::completed);
}

TEST_F(PollerRecoveryTest, FindsAJobThatNeverStartedByItsFolder) {
  const JobRecord job = lost();
  slurm_.prints("sacct", "12|/elsewhere\n58|" + job.run_folder + "\n");
  poll_at(std::chrono::seconds(0));
  EXPECT_FALSE(now(job).job_id);
  poll_at(std::chrono::seconds(2));
  EXPECT_EQ(now(job).job_id, 58);
}

// Two answers in a row that began after sbatch was dead, however long that took.
TEST_F(PollerRecoveryTest, SaysInTheEndThatNothingWasSubmitted) {
  const JobRecord job = lost();
  slurm_.answers("squeue", "exit 1");
  poll_at(std::chrono::hours(9));
  EXPECT_EQ(now(job).state, JobState::submitting) << "no answer is no proof";
  slurm_.queue_holds("");
  EXPECT_EQ(poller_.poll_once(wall_now()).unclear, 1U);
  EXPECT_EQ(now(job).state, JobState::submitting) << "Slurm may be at work on it";
  slurm_.answers("squeue", "exit 1");
  poll_at(std::chrono::seconds(2));
  slurm_.queue_holds("");
  poll_at(std::chrono::seconds(4));
  EXPECT_EQ(now(job).state, JobState::submitting) << "not two in a row";
  poll_at(std::chrono::seconds(6));
  EXPECT_EQ(now(job).state, JobState::not_submitted);
  EXPECT_TRUE(now(job).is_lost);
  EXPECT_THAT(now(job).trouble, HasSubstr("nothing was submitted"));
}

TEST_F(PollerRecoveryTest, AdoptsALostJobThatTurnsUp) {
  const JobRecord job = lost();
  poll_at(std::chrono::seconds(0));
  poll_at(std::chrono::seconds(2));
  ASSERT_EQ(now(job).state, JobState::not_submitted);
  slurm_.queue_holds(queued(job, "RUNNING"));
  poll_at(std::chrono::seconds(3));
  EXPECT_EQ(now(job).state, JobState::not_submitted) << "it is looked for twice a minute";
  poll_at(std::chrono::hours(23));
  EXPECT_EQ(now(job).state, JobState::running);
  EXPECT_EQ(now(job).job_id, 41);
  EXPECT_EQ(now(job).trouble, "");
  EXPECT_FALSE(now(job).is_lost);
  EXPECT_FALSE(now(job).ended_at);
}

// The daemon was killed while it waited for sbatch, and that lives on.
TEST_F(PollerRecoveryTest, GivesUpNoJobWhoseSbatchStillRuns) {
  JobRecord job = lost();
  job.sbatch_ended_at.reset();
  ASSERT_TRUE(slurm_.store->update(job));
  const std::string mark = job.submission_id;
  const pid_t orphan = fork();
  if (orphan == 0) {
    setpgid(0, 0);  // so that its child ends with it
    execl("/bin/sh", "sh", "-c", "sleep 60 & wait", mark.c_str(), nullptr);
    _exit(127);
  }
  while (!is_being_submitted(mark)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (int minutes = 10; minutes < 15; ++minutes) poll_at(std::chrono::minutes(minutes));
  EXPECT_EQ(now(job).state, JobState::submitting);
  EXPECT_FALSE(now(job).sbatch_ended_at);
  kill(-orphan, SIGKILL);
  waitpid(orphan, nullptr, 0);
  poll_at(std::chrono::minutes(20));
  EXPECT_TRUE(now(job).sbatch_ended_at);
}

TEST_F(PollerRecoveryTest, GivesUpWhatACommandLineNeverSent) {
  RunnerProbe runner(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner);
  const JobRecord job =
      dispatcher.submit({{small_submission()}, "somebody", "", false, {}}).jobs.front();
  poll_at(std::chrono::minutes(50));
  EXPECT_EQ(now(job).state, JobState::submitting);
  poll_at(std::chrono::minutes(61));
  EXPECT_EQ(now(job).state, JobState::not_submitted);
  JobSender sender(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner);
  const SentJob sent = sender.send(job);
  ASSERT_TRUE(sent.refusal) << "its command says that it was not submitted";
  EXPECT_THAT(sent.refusal->message, HasSubstr("submit it again"));
  EXPECT_EQ(slurm_.call_count("sbatch"), 0U);
}

// It sends one job after another, which may take hours.
TEST_F(PollerRecoveryTest, GivesUpNothingOfACommandLineThatStillSends) {
  RunnerProbe runner(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner);
  const auto jobs =
      dispatcher.submit({{small_submission(), small_submission()}, "somebody", "", false, {}}).jobs;
  JobRecord sent = jobs[0];
  sent.state = JobState::cancelled;
  sent.sbatch_called_at = instant_text(wall_now() + std::chrono::minutes(50));
  sent.ended_at = sent.sbatch_called_at;
  ASSERT_TRUE(slurm_.store->update(sent));
  poll_at(std::chrono::minutes(100));
  EXPECT_EQ(now(jobs[1]).state, JobState::submitting);
  poll_at(std::chrono::minutes(111));
  EXPECT_EQ(now(jobs[1]).state, JobState::not_submitted);
}

TEST_F(PollerRecoveryTest, CancelsWhatWasToBeCancelledBeforeItWasFound) {
  const JobRecord job = lost();
  RunnerProbe runner(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner);
  ASSERT_TRUE(dispatcher.cancel(job.id));
  EXPECT_EQ(slurm_.call_count("scancel"), 0U);
  slurm_.queue_holds(queued(job, "PENDING"));
  poller_.poll_once();
  EXPECT_THAT(slurm_.calls(), Contains("scancel 41"));
}

}  // namespace
}  // namespace llmb::dispatch
