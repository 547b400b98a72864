#include "server/dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Dispatcher dispatcher(JobChanged changed = {}) {
    return {slurm_.settings, parser::embedded_catalog(), *slurm_.store, std::move(changed)};
  }
  SubmitOutcome submit(std::size_t count = 1, const std::string& key = "") {
    return dispatcher().submit(
        {std::vector<Submission>(count, small_submission()), "somebody", key});
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
};

TEST_F(DispatcherTest, RecordsAJobBeforeItSubmitsIt) {
  std::vector<std::string> states;
  Dispatcher tested = dispatcher([&](const JobRecord& job) {
    states.push_back(job.state + " after " + std::to_string(slurm_.call_count("sbatch")));
    EXPECT_EQ(slurm_.store->job(job.id)->state, job.state);
  });
  const SubmitOutcome outcome = tested.submit({{small_submission()}, "somebody", ""});
  EXPECT_FALSE(outcome.refusal);
  ASSERT_THAT(outcome.jobs, SizeIs(1));
  const JobRecord& job = outcome.jobs.front();
  EXPECT_EQ(job.job_id, 41);
  EXPECT_EQ(job.state, "pending");
  EXPECT_EQ(job.submitted_by, "somebody");
  EXPECT_EQ(slurm_.store->job(job.id), job);
  EXPECT_THAT(states, testing::ElementsAre("submitting after 0", "pending after 1"));
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
  const Dispatcher tested = dispatcher();
  const auto runs = tested.dry_run({small_submission()});
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
      dispatcher().submit({{small_submission(), wrong}, "somebody", "key"});
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->kind, Refusal::Kind::invalid);
  EXPECT_THAT(slurm_.store->jobs(10), IsEmpty());
  EXPECT_THAT(slurm_.calls(), IsEmpty());
  EXPECT_THAT(submit(1, "key").jobs, SizeIs(1)) << "a key of a refused request is still free";
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
  EXPECT_EQ(outcome.jobs.front().state, "not_submitted");
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
  EXPECT_THAT(outcome.jobs, SizeIs(1)) << "the others are not tried";
  EXPECT_EQ(outcome.jobs.front().state, "not_submitted");
}

TEST_F(DispatcherTest, SaysThatTheDiskRefuses) {
  SlurmStandIn::write(slurm_.settings.workload_folder, "a file in the way");
  const SubmitOutcome outcome = submit();
  ASSERT_TRUE(outcome.refusal);
  EXPECT_THAT(outcome.refusal->message, HasSubstr("cannot make the run's folder"));
  EXPECT_THAT(slurm_.store->jobs(10), IsEmpty());
  EXPECT_THAT(slurm_.calls(), IsEmpty());
}

TEST_F(DispatcherTest, DoesNotTakeSilenceForARefusal) {
  slurm_.settings.command_deadline = std::chrono::milliseconds(200);
  slurm_.answers("sbatch", "exec sleep 600");
  const SubmitOutcome hung = submit();
  EXPECT_EQ(hung.jobs.front().state, "submitting");
  EXPECT_THAT(hung.jobs.front().trouble, HasSubstr("is being looked for"));
  slurm_.settings.command_deadline = std::chrono::seconds(20);
  slurm_.answers("sbatch", "echo 'sbatch: error: Socket timed out on send/recv' >&2; exit 1");
  EXPECT_EQ(submit().jobs.front().state, "submitting");
  slurm_.answers("sbatch", "echo 12x");
  EXPECT_EQ(submit().jobs.front().state, "submitting");
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
  slurm_.answers("sbatch", "echo 42");
  const SubmitOutcome second = submit(3, "key");
  EXPECT_FALSE(second.refusal);
  ASSERT_THAT(second.jobs, SizeIs(3));
  EXPECT_EQ(second.jobs[0], first.jobs[0]);
  EXPECT_EQ(second.jobs[1].job_id, 42);
  EXPECT_EQ(second.jobs[2].job_id, 42);
  EXPECT_EQ(submit(3, "key").jobs, second.jobs);
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
  Dispatcher tested = dispatcher();
  const auto first = tested.cancel(job.id);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->cancel_requested_at);
  EXPECT_THAT(slurm_.calls(), Contains("scancel 41"));
  const auto second = tested.cancel(job.id);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cancel_requested_at, first->cancel_requested_at);
  slurm_.answers("scancel", "echo 'scancel: error: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(tested.cancel(job.id));
  EXPECT_EQ(tested.cancel(4711).error().kind, Refusal::Kind::not_found);
}

TEST_F(DispatcherTest, CancelsNoOtherJobOfTheSameId) {
  const JobRecord job = submit().jobs.front();
  slurm_.queue_holds(R"({"job_id":41,"submit_time":900,"job_state":"RUNNING","comment":"mine"})");
  EXPECT_TRUE(dispatcher().cancel(job.id));
  EXPECT_EQ(slurm_.call_count("scancel"), 0U);
}

TEST_F(DispatcherTest, KeepsTheWishToCancelWhenSlurmIsDown) {
  const JobRecord job = submit().jobs.front();
  slurm_.answers("squeue", "exit 1");
  const auto cancelled = dispatcher().cancel(job.id);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().kind, Refusal::Kind::unavailable);
  EXPECT_TRUE(slurm_.store->job(job.id)->cancel_requested_at);
}

}  // namespace
}  // namespace llmb::dispatch
