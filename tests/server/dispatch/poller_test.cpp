#include "server/dispatch/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "server/dispatch/batch_output.h"
#include "tests/patience.h"
#include "tests/server/dispatch/poller_fixture.h"

namespace llmb::dispatch {
namespace {

using storage::JobRecord;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(PollerTest, FollowsAJobToItsEnd) {
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "PENDING", R"(,"state_reason":"Priority")"));
  EXPECT_EQ(poller_.poll_once().changed, 1U);
  EXPECT_EQ(poller_.poll_once().changed, 0U);
  EXPECT_EQ(now(job).state_reason, "Priority");
  EXPECT_EQ(now(job).submit_time_s, 1000);
  slurm_.queue_holds(
      queued(job, "RUNNING", R"(,"nodes":"node[1-2]","start_time":1010,"end_time":3110)"));
  poller_.poll_once();
  EXPECT_EQ(now(job).nodes, "node[1-2]");
  EXPECT_EQ(now(job).started_at, "1970-01-01T00:16:50.000000Z");
  EXPECT_EQ(now(job).limit_ends_at, "1970-01-01T00:51:50.000000Z");
  EXPECT_FALSE(now(job).ended_at);
  slurm_.queue_holds(queued(job, "COMPLETED", R"(,"start_time":1010,"end_time":1020)"));
  poller_.poll_once();
  EXPECT_EQ(now(job).ended_at, "1970-01-01T00:17:00.000000Z");
  EXPECT_FALSE(now(job).limit_ends_at);
  EXPECT_THAT(changes_, testing::ElementsAre("pending", "running", "completed"));
  const std::size_t calls = slurm_.calls().size();
  EXPECT_EQ(poller_.poll_once().unfinished, 0U);
  EXPECT_EQ(slurm_.calls().size(), calls) << "nothing is asked for where nothing is unfinished";
}

TEST_F(PollerTest, ReadsWhatLaterReleasesWrite) {
  const JobRecord job = submitted();
  slurm_.prints("squeue",
                R"({"errors":[],"warnings":[],"jobs":[{"job_id":41,"job_state":["TIMEOUT"],)"
                R"("comment":{"job":")" +
                    job.submission_id +
                    R"("},"submit_time":{"set":true,"infinite":false,"number":1000},)"
                    R"("exit_code":{"return_code":{"set":true,"number":0}}}]})");
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::timed_out);
}

TEST_F(PollerTest, LearnsNothingFromAnAnswerThatIsNone) {
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "RUNNING"));
  poller_.poll_once();
  const JobRecord before = now(job);
  const std::string whole = SlurmStandIn::read(slurm_.folder() + "/squeue.text");
  const std::vector<std::string> answers = {
      "exit 1",
      "kill -9 $$",
      "exec true",
      R"(echo '{"errors":[{"description":"Failed while looking for jobs"}],"jobs":[]}')",
      "head -c " + std::to_string(whole.size() / 2) + " $here/squeue.text",
      "cat $here/squeue.text; exit 1",
      "echo '{\"jobs\":{}}'",
  };
  for (const std::string& answer : answers) {
    slurm_.answers("squeue", answer);
    EXPECT_NE(poller_.poll_once(wall_now() + std::chrono::hours(1)).error, "") << answer;
    EXPECT_EQ(now(job), before) << answer;
  }
  slurm_.settings.command_path = slurm_.folder() + "/nowhere";
  EXPECT_THAT(poller_.poll_once().error, HasSubstr("squeue cannot be started: it is not in "));
  EXPECT_THAT(poller_.poll_once().error, HasSubstr("Are Slurm's commands installed"));
  EXPECT_EQ(now(job), before);
  EXPECT_EQ(slurm_.call_count("sacct"), 0U);
}

TEST_F(PollerTest, DoesNotWaitForACommandThatHangs) {
  const JobRecord job = submitted();
  slurm_.settings.command_deadline = std::chrono::milliseconds(200);
  slurm_.answers("squeue", "sleep 600 & exec sleep 600");
  EXPECT_THAT(poller_.poll_once().error, HasSubstr("no answer in time"));
  EXPECT_EQ(now(job).state, JobState::pending);
}

TEST_F(PollerTest, IsNotFooledByNamesThatForgeLines) {
  const JobRecord job = submitted();
  slurm_.queue_holds(
      R"({"job_id":9,"job_state":"RUNNING","name":"x\",\"job_id\":41,\"comment\":\")" +
      job.submission_id + R"(\n41|FAILED|1000\u001f","comment":"\u0000","user_id":0},)" +
      queued(job, "PENDING", R"(,"name":"41|COMPLETED\n","account":"\"}]}")"));
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::pending);
  EXPECT_EQ(now(job).job_id, 41);
}

TEST_F(PollerTest, TellsALaterJobOfTheSameIdFromItsOwn) {
  const JobRecord job = gone();
  slurm_.queue_holds(R"({"job_id":41,"submit_time":5000,"job_state":"RUNNING","comment":""})");
  slurm_.prints("sacct",
                "41|FAILED|1000|1010|1020|3:0|node1\n41|RUNNING|5000|5001|Unknown|0:0|n\n");
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::failed);
  EXPECT_EQ(now(job).exit_code, 3);
  EXPECT_EQ(now(job).submit_time_s, 1000);
}

TEST_F(PollerTest, CountsARequeueAsARestartOfTheSameJob) {
  const JobRecord job = gone();
  slurm_.queue_holds(R"({"job_id":41,"submit_time":2000,"restart_cnt":1,"job_state":"PENDING",)"
                     R"("state_reason":"BeginTime","start_time":2100,"comment":")" +
                     job.submission_id + "\"}");
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::pending);
  EXPECT_EQ(now(job).restart_count, 1);
  EXPECT_EQ(now(job).submit_time_s, 2000);
  EXPECT_FALSE(now(job).started_at);
  slurm_.queue_holds("");
  slurm_.prints("sacct",
                "41|REQUEUED|1000|1010|1020|0:0|node1\n41|COMPLETED|2000|2100|2200|0:0|node2\n");
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::completed);
  EXPECT_EQ(now(job).restart_count, 1);
  EXPECT_EQ(now(job).nodes, "node2");
}

TEST_F(PollerTest, WaitsForAccountingThatLags) {
  const JobRecord job = gone();
  slurm_.prints("sacct", "41|RUNNING|1000|1010|Unknown|0:0|node1\n");
  poll_at(std::chrono::seconds(0));
  EXPECT_EQ(now(job).state, JobState::running);
  slurm_.prints("sacct", "41|OUT_OF_MEMORY|1000|1010|1020|0:125|node1\n");
  poll_at(std::chrono::seconds(5));
  EXPECT_EQ(now(job).state, JobState::out_of_memory);
}

TEST_F(PollerTest, AsksAccountingOnceForAllThatLeft) {
  slurm_.answers("sbatch", "echo 41");
  submitted();
  slurm_.answers("sbatch", "echo 42");
  submitted();
  poller_.poll_once();
  EXPECT_EQ(slurm_.call_count("sacct"), 1U);
  EXPECT_THAT(slurm_.calls(), Contains(HasSubstr(" --jobs=41,42 ")));
}

TEST_F(PollerTest, TakesTheScriptsOwnWordWhereThereIsNoAccounting) {
  const JobRecord job = gone();
  slurm_.answers("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  SlurmStandIn::write(job.run_folder + "/sbatch_x_41.out",
                      "job started, restart 0\njob started at 1010\njob ended at 1020\n"
                      "job exited with code 3\n");
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::failed);
  EXPECT_EQ(now(job).started_at, "1970-01-01T00:16:50.000000Z");
  EXPECT_EQ(now(job).ended_at, "1970-01-01T00:17:00.000000Z");
  EXPECT_EQ(now(job).exit_code, 3);
}

TEST_F(PollerTest, KnowsWhenAJobRanThatItNeverSawRunning) {
  const JobRecord in_queue = submitted();
  slurm_.queue_holds(
      queued(in_queue, "COMPLETED", R"(,"nodes":"node1","start_time":1010,"end_time":1011)"));
  poller_.poll_once();
  EXPECT_EQ(now(in_queue).started_at, "1970-01-01T00:16:50.000000Z");
  EXPECT_EQ(now(in_queue).ended_at, "1970-01-01T00:16:51.000000Z");

  slurm_.answers("sbatch", "echo 42");
  const JobRecord accounted = submitted();
  slurm_.queue_holds("");
  const std::string submit_time_s = std::to_string(
      std::chrono::floor<std::chrono::seconds>(wall_now()).time_since_epoch().count());
  slurm_.prints("sacct", "42|COMPLETED|" + submit_time_s + "|1010|1011|0:0|node1\n");
  poller_.poll_once();
  EXPECT_EQ(now(accounted).state, JobState::completed);
  EXPECT_EQ(now(accounted).started_at, "1970-01-01T00:16:50.000000Z");
}

TEST_F(PollerTest, KnowsThatAJobWasCancelledBeforeItStarted) {
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "CANCELLED", R"(,"nodes":"","start_time":1010,"end_time":1010)"));
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::cancelled);
  EXPECT_FALSE(now(job).started_at);
  EXPECT_TRUE(now(job).ended_at);
}

TEST_F(PollerTest, FollowsAJobThatIsRequeuedAfterItsEnd) {
  const JobRecord job = gone();
  slurm_.queue_holds(queued(job, "COMPLETED", R"(,"nodes":"node1","end_time":1020)"));
  poller_.poll_once();
  ASSERT_EQ(now(job).state, JobState::completed);
  slurm_.queue_holds(R"({"job_id":41,"submit_time":2000,"restart_cnt":1,"job_state":"PENDING",)"
                     R"("comment":")" +
                     job.submission_id + "\"}");
  poll_at(std::chrono::seconds(10));
  EXPECT_EQ(now(job).state, JobState::completed) << "nothing else is to be asked for just now";
  poll_at(std::chrono::seconds(40));
  EXPECT_EQ(now(job).state, JobState::pending);
  EXPECT_EQ(now(job).restart_count, 1);
  EXPECT_FALSE(now(job).ended_at);
}

// As a command line that waits, beside the daemon.
TEST_F(PollerTest, TakesNoAnswerThatIsOlderThanWhatAnotherPollerHeard) {
  const JobRecord job = submitted();
  slurm_.prints("squeue", R"({"errors":[],"jobs":[)" + queued(job, "COMPLETING") + "]}");
  slurm_.answers("squeue",
                 "cat $here/squeue.text; exec >&-; touch $here/asked\n"
                 "while [ ! -e $here/goes_on ]; do sleep 0.01; done");
  std::thread slow([&] { poller_.poll_once(); });
  const auto patience_ends = std::chrono::steady_clock::now() + kTestPatience;
  while (!std::filesystem::exists(slurm_.folder() + "/asked") &&
         std::chrono::steady_clock::now() < patience_ends) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  slurm_.queue_holds(queued(job, "FAILED", R"(,"nodes":"node1","end_time":1020)"));
  Poller other(slurm_.settings, *slurm_.store);
  other.poll_once();
  EXPECT_EQ(now(job).state, JobState::failed);
  SlurmStandIn::write(slurm_.folder() + "/goes_on", "");
  slow.join();
  EXPECT_EQ(now(job).state, JobState::failed);
}

TEST_F(PollerTest, AsksNoMoreOnceAllThatEndedIsForgotten) {
  const JobRecord job = gone();
  slurm_.queue_holds(queued(job, "COMPLETED", R"(,"nodes":"node1","end_time":1020)"));
  poller_.poll_once();
  slurm_.queue_holds("");
  poll_at(std::chrono::seconds(40));
  const std::size_t asked = slurm_.call_count("squeue");
  poll_at(std::chrono::seconds(80));
  poll_at(std::chrono::hours(30));
  EXPECT_EQ(slurm_.call_count("squeue"), asked);
  EXPECT_EQ(now(job).state, JobState::completed);
}

TEST_F(PollerTest, SaysThatNobodyKnowsHowAJobEnded) {
  const JobRecord job = gone();
  slurm_.answers("sacct", "exit 1");
  poll_at(std::chrono::seconds(0));
  EXPECT_EQ(now(job).state, JobState::running);
  poll_at(std::chrono::seconds(59));
  EXPECT_EQ(now(job).state, JobState::running);
  poll_at(std::chrono::seconds(61));
  EXPECT_EQ(now(job).state, JobState::ended);
  EXPECT_THAT(now(job).trouble, HasSubstr("neither Slurm's accounting nor its own output"));
}

TEST_F(PollerTest, KeepsAskingForAStateThatIsNotKnown) {
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "HIBERNATING"));
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::unknown);
  EXPECT_THAT(now(job).trouble, HasSubstr("'HIBERNATING'"));
  slurm_.queue_holds(queued(job, "RUNNING"));
  poller_.poll_once();
  EXPECT_EQ(now(job).state, JobState::running);
  EXPECT_EQ(now(job).trouble, "");
}

TEST_F(PollerTest, SaysThatAJobCanNeverStart) {
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "PENDING", R"(,"state_reason":"PartitionConfig")"));
  poller_.poll_once();
  EXPECT_THAT(now(job).trouble, StartsWith("will not start by itself (PartitionConfig)"));
  slurm_.queue_holds(
      queued(job, "PENDING", R"(,"state_reason":"Resources","node_count":2,"partition":"batch")"));
  slurm_.prints("sinfo", "2\n");
  poller_.poll_once();
  EXPECT_EQ(now(job).trouble, "");
  slurm_.prints("sinfo", "1\n");
  poller_.poll_once();
  EXPECT_THAT(now(job).trouble, HasSubstr("asks for 2 nodes, and partition batch has 1"));
}

TEST_F(PollerTest, TellsWhenItAskedSlurmAndWhenThereWasNothingToAsk) {
  slurm_.answers("squeue", "exit 1");
  const PollOutcome idle = poller_.poll_once();
  EXPECT_FALSE(idle.asked_at);
  EXPECT_EQ(idle.error, "");
  submitted();
  const WallTime before = wall_now();
  const PollOutcome failed = poller_.poll_once();
  ASSERT_TRUE(failed.asked_at);
  EXPECT_GE(*failed.asked_at, before);
  EXPECT_THAT(failed.error, HasSubstr("squeue"));
}

TEST_F(PollerTest, TellsOfChangesFromItsThread) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string state;
  slurm_.settings.poll_interval = std::chrono::hours(1);
  Poller poller(slurm_.settings, *slurm_.store, [&](const JobRecord& job) {
    const std::lock_guard lock(mutex);
    state = job_state_name(job.state);
    changed.notify_all();
  });
  poller.start();
  const JobRecord job = submitted();
  slurm_.queue_holds(queued(job, "RUNNING"));
  poller.wake();
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, kTestPatience, [&] { return state == "running"; }));
  lock.unlock();
  poller.stop();
}

TEST(JobEvidence, BelievesTheLastStart) {
  const auto state = [](std::string_view output) {
    const auto evidence = batch_output_evidence(output, 41);
    return evidence ? std::string(job_state_name(evidence->state)) : "nothing";
  };
  EXPECT_EQ(state(""), "nothing");
  EXPECT_EQ(state("job exited with code 0\n"), "completed");
  EXPECT_EQ(state("job exited with code 137\n"), "failed");
  EXPECT_EQ(state("job exited with code x\n"), "nothing");
  EXPECT_EQ(state("slurmstepd: error: *** JOB 41 ON node1 CANCELLED AT 2026-11-21T15:00:00 DUE TO "
                  "TIME LIMIT ***\njob exited with code 143\n"),
            "timed_out");
  EXPECT_EQ(state("slurmstepd: error: *** JOB 41 ON node1 CANCELLED AT 2026-11-21T15:00:00 ***\n"),
            "cancelled");
  EXPECT_EQ(state("slurmstepd: error: *** JOB 4 ON node1 CANCELLED AT 2026-11-21T15:00:00 ***\n"),
            "nothing");
  EXPECT_EQ(state("slurmstepd: error: *** JOB 41 ON node1 CANCELLED AT 2026-11-21T15:00:00 DUE TO "
                  "JOB REQUEUE ***\n"),
            "nothing");
  EXPECT_EQ(state("job exited with code 1\njob started, restart 1\n"), "nothing");
  const auto again = batch_output_evidence(
      "job started, restart 0\njob started at 1000\njob ended at 1010\njob exited with code 1\n"
      "job started, restart 1\njob started at 2000\njob exited with code 0\n",
      41);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->started_at_s, 2000);
  EXPECT_FALSE(again->ended_at_s.has_value());
}

}  // namespace
}  // namespace llmb::dispatch
