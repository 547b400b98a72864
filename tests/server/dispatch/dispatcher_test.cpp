#include "server/dispatch/dispatcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <set>
#include <thread>

#include "parser/layout/run_path.h"
#include "tests/patience.h"
#include "tests/server/dispatch/slurm_stand_in.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using storage::JobRecord;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class DispatcherTest : public testing::Test {
 protected:
  static SubmitRequest request(std::size_t count = 1, const std::string& key = "") {
    return {std::vector<Submission>(count, small_submission()), "somebody", key, false, {}};
  }
  SubmitOutcome submit(std::size_t count = 1, const std::string& key = "") {
    return slurm_.submit(request(count, key));
  }
  bool has_launch_folder() const {
    const fs::path runs(slurm_.settings.workload_folder);
    if (!fs::exists(runs)) return false;
    for (const auto& entry : fs::recursive_directory_iterator(runs)) {
      if (entry.path().parent_path().parent_path().filename() == "experiments") return true;
    }
    return false;
  }

  SlurmStandIn slurm_;
  RunnerProbe runner_{slurm_.settings};
  Dispatcher dispatcher_{slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner_};
};

TEST_F(DispatcherTest, RecordsAJobBeforeItSubmitsIt) {
  std::vector<std::string> states;
  const SubmitOutcome outcome = slurm_.submit(request(), [&](const JobRecord& job) {
    states.push_back(
        fmt::format("{} after {}", job_state_name(job.state), slurm_.call_count("sbatch")));
    EXPECT_EQ(slurm_.store->job(job.id), job);
  });
  EXPECT_FALSE(outcome.refusal);
  ASSERT_THAT(outcome.jobs, SizeIs(1));
  const JobRecord& job = outcome.jobs.front();
  EXPECT_EQ(job.job_id, 41);
  EXPECT_EQ(job.state, JobState::pending);
  EXPECT_EQ(job.submitted_by, "somebody");
  EXPECT_EQ(slurm_.store->job(job.id), job);
  EXPECT_THAT(states,
              testing::ElementsAre("submitting after 0", "submitting after 0", "pending after 1"));
  EXPECT_LE(job.created_at, job.sbatch_called_at);
  EXPECT_LE(job.sbatch_called_at, job.sbatch_ended_at);
  EXPECT_THAT(slurm_.calls().front(), HasSubstr(" --comment=" + job.submission_id + " "));
  EXPECT_TRUE(fs::is_directory(job.run_folder));
}

TEST_F(DispatcherTest, PassesItsScriptAndNothingOfItsEnvironment) {
  setenv("SBATCH_PARTITION", "leaked", 1);
  slurm_.answers("sbatch",
                 "env >$here/seen; for last; do :; done; cp \"$last\" $here/script; echo 7");
  const SubmitOutcome outcome = submit();
  unsetenv("SBATCH_PARTITION");
  EXPECT_THAT(SlurmStandIn::read(slurm_.folder() + "/seen"), Not(HasSubstr("SBATCH_")));
  EXPECT_THAT(SlurmStandIn::read(slurm_.folder() + "/script"),
              HasSubstr("submission " + outcome.jobs.front().submission_id));
}

TEST_F(DispatcherTest, DryRunIsWhatASubmissionWouldBe) {
  const auto runs = dispatcher_.dry_run({small_submission()});
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_THAT(runs->front().arguments, Contains("--nodes=2"));
  EXPECT_THAT(runs->front().script, HasSubstr("srun "));
  EXPECT_THAT(slurm_.calls(), IsEmpty());
  EXPECT_FALSE(fs::exists(slurm_.settings.workload_folder));
}

TEST_F(DispatcherTest, RecordsNothingOfAnInvalidRequest) {
  Submission wrong = small_submission();
  wrong.scale = 17;
  const SubmitOutcome outcome =
      slurm_.submit({{small_submission(), wrong}, "somebody", "key", false, {}});
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->kind, Refusal::Kind::invalid);
  EXPECT_THAT(slurm_.store->jobs(10), IsEmpty());
  EXPECT_THAT(slurm_.calls(), IsEmpty());
  EXPECT_THAT(submit(1, "key").jobs, SizeIs(1)) << "a key of a refused request is still free";
}

// One reason a line, with the jobs that it is of; none is recorded.
TEST_F(DispatcherTest, SaysEveryRefusalOfARequest) {
  SubmitRequest nine = request(9);
  nine.submissions[1].workload = "pretrain_grok9";
  nine.submissions[4].gpu_type = "h10";
  nine.submissions[8].gpu_type = "h10";
  const SubmitOutcome outcome = slurm_.submit(nine);
  ASSERT_TRUE(outcome.refusal);
  EXPECT_THAT(outcome.jobs, IsEmpty());
  const std::string& message = outcome.refusal->message;
  EXPECT_THAT(message, HasSubstr("3 of 9 jobs are refused, and none is submitted\n"));
  EXPECT_THAT(message, HasSubstr("\njob 2: unknown workload 'pretrain_grok9'"));
  EXPECT_THAT(message, HasSubstr("\njobs 5, 9: unknown GPU type 'h10'"));
  for (Submission& submission : nine.submissions) submission.dtype = "int1";
  nine.submissions[1] = nine.submissions[4] = nine.submissions[8] = nine.submissions[0];
  EXPECT_TRUE(
      slurm_.submit(nine).refusal->message.starts_with("dtype 'int1' (--dtype, DTYPE) has"));
}

struct Refused {
  const char* said;
  Refusal::Kind kind;
  const char* advice;

  // Names the test.
  friend void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.said; }
};

class DispatcherRefusalTest : public DispatcherTest, public testing::WithParamInterface<Refused> {};

TEST_P(DispatcherRefusalTest, SaysWhatSlurmSaidAndWhatToDo) {
  slurm_.answers("sbatch", std::string("echo 'sbatch: error: ") + GetParam().said +
                               "' >&2; echo 'sbatch: error: second line' >&2; exit 1");
  const SubmitOutcome outcome = submit();
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->kind, GetParam().kind) << outcome.refusal->message;
  EXPECT_THAT(outcome.refusal->message, HasSubstr(GetParam().said));
  EXPECT_THAT(outcome.refusal->message, HasSubstr(GetParam().advice));
  ASSERT_THAT(outcome.jobs, SizeIs(1));
  EXPECT_EQ(outcome.jobs.front().state, JobState::not_submitted);
  EXPECT_EQ(outcome.jobs.front().trouble, outcome.refusal->message);
  EXPECT_FALSE(outcome.jobs.front().job_id);
  EXPECT_FALSE(has_launch_folder());
}

INSTANTIATE_TEST_SUITE_P(
    Slurm, DispatcherRefusalTest,
    testing::Values(
        Refused{"invalid partition specified: gpu", Refusal::Kind::refused, "`sinfo` lists"},
        Refused{"Batch job submission failed: Invalid account or account/partition combination "
                "specified",
                Refusal::Kind::refused, "sacctmgr"},
        // "Encountering errors such as 'GPUs not found' or 'Cannot submit to this partition without
        // GPU resources' means this setting is required", all of the 25.x documents.
        Refused{"GPUs not found", Refusal::Kind::refused, "set SBATCH_GPUS_PER_NODE"},
        Refused{"Cannot submit to this partition without GPU resources", Refusal::Kind::refused,
                "set SBATCH_GPUS_PER_NODE"},
        Refused{"Batch job submission failed: Job violates accounting/QOS policy (job submit "
                "limit, user size and/or time limits)",
                Refusal::Kind::refused, "a quota is used up"},
        Refused{"Batch job submission failed: Requested node configuration is not available",
                Refusal::Kind::refused, "fewer GPUs"},
        Refused{"Unable to contact slurm controller (connect failure)", Refusal::Kind::unavailable,
                "slurmctld does not answer"},
        Refused{"something that no release has said yet", Refusal::Kind::refused, "exit code 1"}));

TEST_F(DispatcherTest, SaysThatSlurmIsNotThere) {
  slurm_.settings.command_path = slurm_.folder() + "/nowhere";
  const SubmitOutcome outcome = submit(3);
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->kind, Refusal::Kind::unavailable);
  EXPECT_THAT(outcome.refusal->message, HasSubstr("'command_path'"));
  ASSERT_THAT(outcome.jobs, SizeIs(3));
  EXPECT_EQ(outcome.jobs.front().state, JobState::not_submitted);
  EXPECT_EQ(outcome.jobs.back().state, JobState::not_submitted);
  EXPECT_THAT(outcome.jobs.back().trouble, HasSubstr("not tried"));
}

TEST_F(DispatcherTest, SaysThatTheDiskRefuses) {
  SlurmStandIn::write(slurm_.settings.workload_folder, "a file in the way");
  const SubmitOutcome outcome = submit();
  ASSERT_TRUE(outcome.refusal);
  EXPECT_THAT(outcome.refusal->message, HasSubstr("cannot make the run's folder"));
  EXPECT_EQ(outcome.jobs.front().state, JobState::not_submitted);
  EXPECT_THAT(slurm_.calls(), IsEmpty());
}

TEST_F(DispatcherTest, DoesNotTakeSilenceForARefusal) {
  slurm_.settings.command_deadline = std::chrono::milliseconds(200);
  slurm_.answers("sbatch", "exec sleep 600");
  const SubmitOutcome hung = submit();
  EXPECT_EQ(hung.jobs.front().state, JobState::submitting);
  EXPECT_THAT(hung.jobs.front().trouble, HasSubstr("is being looked for"));
  slurm_.settings.command_deadline = kTestPatience;
  slurm_.answers("sbatch", "echo 'sbatch: error: Socket timed out on send/recv' >&2; exit 1");
  EXPECT_EQ(submit().jobs.front().state, JobState::submitting);
  slurm_.answers("sbatch", "echo 12x");
  EXPECT_EQ(submit().jobs.front().state, JobState::submitting);
  EXPECT_TRUE(has_launch_folder());
}

TEST_F(DispatcherTest, RepeatsARequestByGivingItsJobs) {
  const SubmitOutcome first = submit(3, "key");
  const SubmitOutcome second = submit(3, "key");
  EXPECT_FALSE(first.is_repeated);
  EXPECT_TRUE(second.is_repeated);
  EXPECT_EQ(second.jobs, first.jobs);
  EXPECT_EQ(slurm_.call_count("sbatch"), 3U);
  const SubmitOutcome other = submit(2, "key");
  ASSERT_TRUE(other.refusal);
  EXPECT_EQ(other.refusal->kind, Refusal::Kind::conflict);
  EXPECT_THAT(submit(1, "another key").jobs, SizeIs(1));
}

TEST_F(DispatcherTest, RepeatsARequestBySubmittingWhatTheFirstDidNot) {
  slurm_.answers("sbatch", "[ -f $here/once ] && exec false; touch $here/once; echo 41");
  const SubmitOutcome first = submit(3, "key");
  EXPECT_THAT(first.jobs, SizeIs(3));
  EXPECT_TRUE(first.refusal);
  EXPECT_EQ(first.jobs[1].state, JobState::not_submitted);
  slurm_.answers("sbatch", "echo 42");
  const SubmitOutcome second = submit(3, "key");
  EXPECT_FALSE(second.refusal);
  ASSERT_THAT(second.jobs, SizeIs(3));
  EXPECT_EQ(second.jobs[0], first.jobs[0]);
  EXPECT_EQ(second.jobs[1].job_id, 42);
  EXPECT_EQ(second.jobs[2].job_id, 42);
  EXPECT_EQ(submit(3, "key").jobs, second.jobs);
}

// Slurm may have it: a second one would be a job too many.
TEST_F(DispatcherTest, RepeatsNoRequestWhoseJobIsLost) {
  const SubmitOutcome first = submit(1, "key");
  JobRecord lost = first.jobs.front();
  lost.state = JobState::not_submitted;
  lost.is_lost = true;
  lost.trouble = "sbatch's answer was lost";
  lost.ended_at = lost.created_at;
  ASSERT_TRUE(slurm_.store->update(lost));
  const SubmitOutcome second = submit(1, "key");
  EXPECT_EQ(slurm_.call_count("sbatch"), 1U);
  ASSERT_THAT(second.jobs, SizeIs(1));
  EXPECT_EQ(second.jobs.front().id, lost.id);
  EXPECT_FALSE(second.has_new());
  ASSERT_TRUE(second.refusal) << "a command that repeats it is told that nothing runs";
  EXPECT_EQ(second.refusal->message, lost.trouble);
}

TEST_F(DispatcherTest, GivesLaunchesOfOneSecondFoldersOfTheirOwn) {
  const SubmitOutcome outcome = submit(5);
  std::set<std::string> folders;
  for (const JobRecord& job : outcome.jobs) {
    EXPECT_TRUE(folders.insert(job.run_folder).second);
    EXPECT_THAT(job.run_folder, HasSubstr("/" + job.launch_id + "/"));
  }
}

std::string queued(const JobRecord& job, const std::string& state) {
  return R"({"job_id":41,"submit_time":100,"job_state":")" + state + R"(","comment":")" +
         job.submission_id + "\"}";
}

TEST_F(DispatcherTest, CancelsAndCancelsAgain) {
  const JobRecord job = submit().jobs.front();
  slurm_.queue_holds(queued(job, "RUNNING"));
  Poller poller(slurm_.settings, *slurm_.store);
  const auto first = dispatcher_.cancel(job.id);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->cancel_requested_at);
  EXPECT_EQ(slurm_.call_count("scancel"), 0U) << "Slurm is the poller's business";
  poller.poll_once();
  EXPECT_THAT(slurm_.calls(), Contains("scancel 41"));
  const auto second = dispatcher_.cancel(job.id);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cancel_requested_at, first->cancel_requested_at);
  slurm_.answers("scancel", "echo 'scancel: error: Invalid job id specified' >&2; exit 1");
  EXPECT_EQ(poller.poll_once().error, "");
  EXPECT_EQ(dispatcher_.cancel(4711).error().kind, Refusal::Kind::not_found);
}

TEST_F(DispatcherTest, CancelsNoOtherJobOfTheSameId) {
  const JobRecord job = submit().jobs.front();
  slurm_.queue_holds(R"({"job_id":41,"submit_time":900,"job_state":"RUNNING","comment":"mine"})");
  EXPECT_TRUE(dispatcher_.cancel(job.id));
  Poller(slurm_.settings, *slurm_.store).poll_once();
  EXPECT_EQ(slurm_.call_count("scancel"), 0U);
}

TEST_F(DispatcherTest, CancelsAtOnceWhatNobodyHasSent) {
  SubmitRequest queued_request = request();
  queued_request.is_queued = true;
  const JobRecord job = dispatcher_.submit(queued_request).jobs.front();
  EXPECT_EQ(dispatcher_.cancel(job.id)->state, JobState::cancelled);
  JobSender sender(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner_);
  EXPECT_EQ(SendQueue(slurm_.settings, *slurm_.store, sender).send_queued(), 0U);
  const SentJob sent = sender.send(job);
  EXPECT_EQ(sent.job.state, JobState::cancelled) << "whoever read it before";
  ASSERT_TRUE(sent.refusal);
  EXPECT_EQ(sent.refusal->kind, Refusal::Kind::refused);
  EXPECT_EQ(slurm_.call_count("sbatch"), 0U);
  EXPECT_FALSE(has_launch_folder());
}

// One key from many at once: one of them records and sends, the others read.
TEST_F(DispatcherTest, SubmitsOnceHoweverManyAskAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<SubmitOutcome> outcomes(8);
  for (SubmitOutcome& outcome : outcomes) {
    threads.emplace_back([&] {
      storage::JobStore own({slurm_.folder() + "/jobs.db", true});
      RunnerProbe runner(slurm_.settings);
      outcome = Dispatcher(slurm_.settings, parser::embedded_catalog(), own, runner)
                    .submit(request(2, "nightly"));
      JobSender sender(slurm_.settings, parser::embedded_catalog(), own, runner);
      send_all(sender, outcome);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(slurm_.store->jobs(100).size(), 2U);
  EXPECT_EQ(slurm_.call_count("sbatch"), 2U);
  for (const SubmitOutcome& outcome : outcomes) {
    ASSERT_THAT(outcome.jobs, SizeIs(2));
    EXPECT_EQ(outcome.jobs.front().id, outcomes.front().jobs.front().id);
  }
}

TEST_F(DispatcherTest, SendsARecordedJobOnce) {
  SubmitRequest queued_request = request(3);
  queued_request.is_queued = true;
  dispatcher_.submit(queued_request);
  slurm_.answers("sbatch", "sleep 0.1; echo 41");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      storage::JobStore own({slurm_.folder() + "/jobs.db", true});
      RunnerProbe runner(slurm_.settings);
      JobSender sender(slurm_.settings, parser::embedded_catalog(), own, runner);
      SendQueue(slurm_.settings, own, sender).send_queued();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(slurm_.call_count("sbatch"), 3U);
}

TEST_F(DispatcherTest, SendsNothingMoreUntilSlurmAnswers) {
  SubmitRequest queued_request = request(3);
  queued_request.is_queued = true;
  dispatcher_.submit(queued_request);
  JobSender sender(slurm_.settings, parser::embedded_catalog(), *slurm_.store, runner_);
  SendQueue queue(slurm_.settings, *slurm_.store, sender);
  slurm_.answers("sbatch", "echo 'sbatch: error: Socket timed out on send/recv' >&2; exit 1");
  slurm_.answers("squeue", "exit 1");
  EXPECT_EQ(queue.send_queued(), 1U);
  EXPECT_EQ(queue.send_queued(), 0U);
  EXPECT_EQ(slurm_.call_count("sbatch"), 1U);
  slurm_.answers("sbatch", "echo 42");
  slurm_.queue_holds("");
  EXPECT_EQ(queue.send_queued(), 2U);
  EXPECT_EQ(slurm_.call_count("sbatch"), 3U);
}

TEST_F(DispatcherTest, BoundsWhatOneMayAskFor) {
  SubmitRequest limited = request(2);
  limited.limits = {5, 3};
  EXPECT_FALSE(dispatcher_.submit(limited).refusal);
  const SubmitOutcome over = dispatcher_.submit(limited);
  ASSERT_TRUE(over.refusal);
  EXPECT_EQ(over.refusal->kind, Refusal::Kind::too_many);
  EXPECT_THAT(over.refusal->message, HasSubstr("'jobs_unfinished'"));
  for (const JobRecord& job : slurm_.store->jobs(10)) dispatcher_.cancel(job.id);
  limited.limits = {3, 100};
  EXPECT_THAT(dispatcher_.submit(limited).refusal->message, HasSubstr("'jobs_per_minute'"));
  limited.submitted_by = "somebody else";
  EXPECT_FALSE(dispatcher_.submit(limited).refusal);
  EXPECT_EQ(slurm_.store->jobs(10).size(), 4U);
}

// They may be others by now; it asks for nothing new.
TEST_F(DispatcherTest, RepeatsARequestWhateverItsLimitsAndPlansSayNow) {
  SubmitRequest limited = request(2, "key");
  limited.limits = {2, 2};
  const SubmitOutcome first = dispatcher_.submit(limited);
  ASSERT_THAT(first.jobs, SizeIs(2));
  EXPECT_EQ(dispatcher_.submit(limited).jobs, first.jobs);
  ClusterSettings changed = slurm_.settings;
  changed.backend.clear();
  changed.runner = "/nowhere/runner";
  RunnerProbe runner(changed);
  Dispatcher later(changed, parser::embedded_catalog(), *slurm_.store, runner);
  EXPECT_EQ(later.submit(request(2)).refusal->kind, Refusal::Kind::invalid);
  const SubmitOutcome again = later.submit(limited);
  EXPECT_FALSE(again.refusal);
  EXPECT_TRUE(again.is_repeated);
  EXPECT_EQ(again.jobs, first.jobs);
  EXPECT_EQ(later.submit(request(1, "key")).refusal->kind, Refusal::Kind::conflict);
  // What the first request did not submit is asked for anew.
  JobRecord refused = first.jobs[1];
  refused.state = JobState::not_submitted;
  refused.ended_at = refused.created_at;
  ASSERT_TRUE(slurm_.store->update(refused));
  limited.limits = {{}, 1};
  EXPECT_EQ(dispatcher_.submit(limited).refusal->kind, Refusal::Kind::too_many);
  limited.limits = {{}, 2};
  EXPECT_THAT(dispatcher_.submit(limited).is_new, testing::ElementsAre(false, true));
}

// Of 256 launches of one second none is named after a second to come.
TEST_F(DispatcherTest, NamesNoLaunchAheadOfTheClock) {
  const SubmitOutcome outcome = dispatcher_.submit(request(kJobsAtOnceMax));
  const std::int64_t now_s = std::time(nullptr);
  std::set<std::string> names;
  for (const JobRecord& job : outcome.jobs) {
    EXPECT_TRUE(names.insert(job.launch_id).second);
    EXPECT_LE(recorded_launch("", job.launch_id).launched_at_s, now_s);
    EXPECT_TRUE(parser::parse_run_path("experiments/" + job.experiment + "/" + job.launch_id + "/" +
                                       job.experiment + "/log-x_1_0.out")
                    .launched_at);
  }
}

}  // namespace
}  // namespace llmb::dispatch
