// What becomes of jobs on a real Slurm: through the daemon's API, its poller and its ingest, and
// through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "tests/slurm/lane.h"

namespace llmb::slurm_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kForever = 1'000'000;

class Ending : public ::testing::Environment {
 public:
  void TearDown() override { Lane::end_all(); }
};
[[maybe_unused]] const auto* const kEnding =
    ::testing::AddGlobalTestEnvironment(std::make_unique<Ending>().release());

// A test that failed says what was going on.
class FailureEvidence : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    for (const Lane* const lane : Lane::all()) std::cout << lane->evidence() << std::endl;
  }
};
[[maybe_unused]] const bool kListens = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<FailureEvidence>().release());
  return true;
}();

class OnSlurm : public ::testing::Test {
 protected:
  // What Slurm takes its time for begins first, and is looked at last.
  static void SetUpTestSuite() {
    const Lane* const lane = Lane::get("accounting");
    const Lane* const plain = Lane::get("plain");
    if (lane == nullptr || plain == nullptr) return;
    json submission = single_rank_on("node2", kForever);
    submission["slurm"]["time"] = "1";  // minutes: there is no shorter limit
    job_beyond_its_limit = begin(*lane, submission);

    submission = single_rank_on("node1", kForever);
    submission["slurm"]["requeue"] = true;
    requeued_job = begin(*lane, submission);
    const json first = lane->wait_for_run(requeued_job, "running");
    const CommandAnswer requeued = lane->slurm({"scontrol", "requeue", first["job_id"].dump()});
    EXPECT_EQ(requeued.exit_code, 0) << requeued.errors;

    submission = single_rank_on("node1", 50);
    submission["slurm"]["requeue"] = true;
    job_requeued_after_its_end = lane->submit(submission)["id"].get<std::int64_t>();
    const json done = lane->wait_for(job_requeued_after_its_end, {"completed"});
    const CommandAnswer again = lane->slurm({"scontrol", "requeue", done["job_id"].dump()});
    EXPECT_EQ(again.exit_code, 0) << again.errors;

    submission = single_rank_on("node1", kForever);
    submission["slurm"]["no-requeue"] = true;
    job_of_a_lost_node = begin(*plain, submission);
    const CommandAnswer killed = plain->node("kill", "node1");
    EXPECT_EQ(killed.exit_code, 0) << killed.errors;
  }

  static std::int64_t begin(const Lane& lane, const json& submission) {
    const auto id = lane.submit(submission)["id"].get<std::int64_t>();
    lane.wait_for(id, {"running"});
    return id;
  }

  void SetUp() override {
    lane_ = Lane::get("accounting");
    plain_ = Lane::get("plain");
    if (lane_ == nullptr || plain_ == nullptr) {
      GTEST_SKIP() << "there is no Slurm here: see the test slurm.up";
    }
  }

  const Lane* lane_ = nullptr;
  const Lane* plain_ = nullptr;
  static std::int64_t job_beyond_its_limit;
  static std::int64_t requeued_job;
  static std::int64_t job_requeued_after_its_end;
  static std::int64_t job_of_a_lost_node;
};
std::int64_t OnSlurm::job_beyond_its_limit = 0;
std::int64_t OnSlurm::requeued_job = 0;
std::int64_t OnSlurm::job_requeued_after_its_end = 0;
std::int64_t OnSlurm::job_of_a_lost_node = 0;

TEST_F(OnSlurm, EveryFamilyRunsOnTwoNodesAndItsResultIsInTheApi) {
  std::vector<std::pair<std::int64_t, Gate>> jobs;
  for (const char* family : {"grok1", "llama3.1", "llama4_maverick", "nemotron4"}) {
    const Gate gate(*lane_, family);
    json submission = gate.behind(tiny_submission(family, 50));
    submission["slurm"] = {{"hold", true}};
    const json job = lane_->submit(submission);
    EXPECT_EQ(job["state"], "pending");
    jobs.emplace_back(job["id"].get<std::int64_t>(), gate);
  }
  for (const auto& [id, gate] : jobs) {
    const json pending = lane_->wait_for(id, {"pending"});
    SCOPED_TRACE(pending["experiment"].get<std::string>());
    ASSERT_EQ(lane_->slurm({"scontrol", "release", pending["job_id"].dump()}).exit_code, 0);
    const json running = lane_->wait_for(id, {"running"});
    EXPECT_EQ(running["nodes"], "node[1-2]");
    gate.open();
    const json ended = lane_->wait_for(id, {"completed"});
    ASSERT_EQ(ended["state"], "completed");
    EXPECT_EQ(ended["exit_code"], 0);
    EXPECT_EQ(ended["started_at"], running["started_at"]);
    EXPECT_LE(ended["started_at"].get<std::string>(), ended["ended_at"].get<std::string>());
    std::vector<std::string> states = lane_->told_states(id, "completed");
    std::erase(states, "completing");  // for an instant, or longer
    EXPECT_THAT(states, ElementsAre("submitting", "pending", "running", "completed"));

    const json run = lane_->wait_for_run(id, "complete");
    EXPECT_EQ(run["job_id"], ended["job_id"]);
    EXPECT_EQ(run["job"]["id"], id);
    EXPECT_EQ(run["job"]["state"], "completed");
    EXPECT_EQ(run["step_count"], 50);
    EXPECT_EQ(run["gpu_count"], 8);
    EXPECT_GT(run["step_time_s_mean"].get<double>(), 0);
    const json listed = lane_->get_json("/api/v1/runs?job_id=" + ended["job_id"].dump())["runs"];
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["id"], run["id"]);
    EXPECT_EQ(listed[0]["status"], "complete");
    const json metrics = lane_->get_json("/api/v1/runs/" + run["id"].dump() + "/metrics");
    EXPECT_TRUE(metrics.is_object()) << metrics;
    const json log = lane_->get_json("/api/v1/jobs/" + std::to_string(id) + "/log");
    EXPECT_THAT(log["path"].get<std::string>(), HasSubstr("_" + ended["job_id"].dump() + "_0.out"));
    EXPECT_THAT(log["text"].get<std::string>(), HasSubstr("rank_count=8"));
  }
}

TEST_F(OnSlurm, TheCommandLineSubmitsWaitsAndShows) {
  Words words = {
      "submit",  "-w",    "pretrain_nemotron4", "-s", "15b", "--dtype", "bf16", "--scale", "8",
      "--proxy", "--wait"};
  const json tiny = tiny_submission("nemotron4", 50);
  for (const auto& [name, value] : tiny["runner_options"].items()) {
    words.insert(words.end(), {"--set", name + "=" + value.dump()});
  }
  const CommandAnswer submitted = lane_->report(words);
  ASSERT_EQ(submitted.exit_code, 0) << submitted.output << submitted.errors;
  EXPECT_THAT(submitted.output, HasSubstr("complete"));
  const json newest = lane_->get_json("/api/v1/jobs?limit=1")["jobs"][0];
  EXPECT_EQ(newest["state"], "completed");
  const std::string id = newest["id"].dump();
  EXPECT_THAT(lane_->report({"jobs"}).output, HasSubstr(newest["job_id"].dump()));
  EXPECT_THAT(lane_->report({"jobs", "show", id}).output, HasSubstr("completed"));
  EXPECT_THAT(lane_->report({"jobs", "log", id}).output, HasSubstr("iteration 49/49"));
  // The daemon saw nothing of its submission, and has its run all the same.
  EXPECT_EQ(lane_->wait_for_run(newest["id"].get<std::int64_t>(), "complete")["step_count"], 50);
  const CommandAnswer unknown = lane_->report({"jobs", "show", "999999"});
  EXPECT_EQ(unknown.exit_code, 1) << unknown.output;
}

// As the recipes' own do: it submits by itself, and its log goes where the recipes document it.
TEST_F(OnSlurm, ALaunchScriptOfARecipeSubmitsItsOwnJob) {
  const std::filesystem::path script = lane_->folder() / "launch.sh";
  std::ofstream(script)
      << "#!/bin/bash\nset -eu\nname=\"recipe_${MODEL_SIZE}_${DTYPE}_${JOB_TOTAL_GPUS}\"\n"
         "folder=\"$LLMB_WORKLOAD/experiments/$name/${name}_1750000000/$name\"\n"
         "mkdir -p \"$folder\"\n"
         "cat >\"$folder/job.sh\" <<END\n#!/bin/bash\n"
         "srun --nodes=2 --ntasks=2 --output=$folder/log-own.${name}_%j_0.out " LLMB_BINARY_DIR
         "/bin/llmb-step-runner --workload=pretrain_nemotron4 "
         "--model-size=15b --dtype=bf16 --backend=cpu --num-layers=2 --hidden-size=32 "
         "--num-attention-heads=4 --num-query-groups=2 --head-size=8 --ffn-hidden-size=64 "
         "--vocab-size=64 --seq-length=32 --micro-batch-size=1 --global-batch-size=2 --tp=1 "
         "--pp=1 --cp=1 --vp=1 --steps=50 --scale=2\nEND\n"
         "cd \"$folder\"\nsbatch --nodes=2 --ntasks-per-node=1 --output=sbatch.out job.sh\n";
  json submission = tiny_submission("nemotron4", 50);
  submission.erase("runner_options");
  submission["launcher"] = "recipe";
  submission["slurm"] = {{"partition", "batch"}};
  const auto id = lane_->submit(submission)["id"].get<std::int64_t>();
  const json ended = lane_->wait_for(id, {"completed"});
  const json log = lane_->get_json("/api/v1/jobs/" + std::to_string(id) + "/log");
  const std::string said = log["text"].get<std::string>();
  const std::string mark = "Submitted batch job ";
  ASSERT_THAT(said, HasSubstr(mark)) << ended.dump(1);
  const std::string own = std::to_string(std::stoll(said.substr(said.find(mark) + mark.size())));
  json runs;
  ASSERT_TRUE(wait_until([&] {
    runs = lane_->get_json("/api/v1/runs?job_id=" + own)["runs"];
    return runs.size() == 1 && runs[0]["status"] == "complete";
  })) << runs.dump(1)
      << run({"tail", "-n", "20", "--", lane_->workload_folder().string()}).errors;
  EXPECT_EQ(runs[0]["step_count"], 50);
}

TEST_F(OnSlurm, AJobIsCancelledOnceAndTwice) {
  const auto id = begin(*lane_, Gate(*lane_, "never").behind(tiny_submission("nemotron4", 50)));
  const std::string path = "/api/v1/jobs/" + std::to_string(id);
  const cli::Answer first = lane_->ask("DELETE", path);
  ASSERT_THAT(first.status, AnyOf(200, 202)) << first.body;
  const cli::Answer again = lane_->ask("DELETE", path);
  ASSERT_THAT(again.status, AnyOf(200, 202)) << again.body;
  EXPECT_EQ(again.json()["cancel_requested_at"], first.json()["cancel_requested_at"]);
  const json ended = lane_->wait_for(id, {"cancelled"});
  EXPECT_FALSE(ended["started_at"].is_null());
  EXPECT_FALSE(ended["ended_at"].is_null());
  const cli::Answer late = lane_->ask("DELETE", path);
  EXPECT_EQ(late.status, 200) << late.body;
  const CommandAnswer command = lane_->report({"jobs", "cancel", std::to_string(id)});
  EXPECT_EQ(command.exit_code, 0) << command.errors;
}

TEST_F(OnSlurm, AJobThatWasCancelledInTheQueueNeverStarted) {
  json submission = tiny_submission("nemotron4", 50);
  submission["slurm"] = {{"hold", true}};
  const auto id = lane_->submit(submission)["id"].get<std::int64_t>();
  EXPECT_TRUE(wait_until([&] { return lane_->job(id)["state_reason"] == "JobHeldUser"; }));
  lane_->cancel(id);
  EXPECT_TRUE(lane_->job(id)["started_at"].is_null()) << lane_->job(id);
  EXPECT_TRUE(lane_->job(id)["runs"].empty());
}

TEST_F(OnSlurm, WhatCanNeverStartIsSaidToBeSo) {
  json submission = tiny_submission("nemotron4", 50);
  submission["slurm"] = {{"partition", "small"}};  // it has one node
  const auto id = lane_->submit(submission)["id"].get<std::int64_t>();
  EXPECT_TRUE(wait_until([&] { return !lane_->job(id)["trouble"].is_null(); }));
  EXPECT_EQ(lane_->job(id)["state"], "pending");
  lane_->cancel(id);
  submission["slurm"] = {{"partition", "nowhere"}};
  const cli::Answer refused = lane_->ask("POST", "/api/v1/jobs", submission.dump());
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("nvalid partition"));
  EXPECT_EQ(lane_->get_json("/api/v1/jobs?limit=1")["jobs"][0]["state"], "not_submitted");
}

TEST_F(OnSlurm, WithoutAccountingTheEndIsKnownToo) {
  const auto done = plain_->submit(single_rank_on("node2", 50))["id"].get<std::int64_t>();
  const auto gone = begin(*plain_, single_rank_on("node2", kForever));
  const json completed = plain_->wait_for(done, {"completed"});
  EXPECT_FALSE(completed["started_at"].is_null());
  EXPECT_EQ(plain_->wait_for_run(done, "complete")["job"]["id"], done);
  plain_->cancel(gone);
}

TEST_F(OnSlurm, ARequeuedJobIsAnotherRetryOfItsLaunch) {
  ASSERT_NE(requeued_job, 0);
  json now;
  ASSERT_TRUE(wait_until([&] {
    now = lane_->job(requeued_job);
    return now["restart_count"] == 1 && now["state"] == "running" && now["runs"].size() == 2;
  })) << now.dump(1);
  const json before = lane_->get_json("/api/v1/runs/" + now["runs"][0].dump());
  const json after = lane_->get_json("/api/v1/runs/" + now["runs"][1].dump());
  EXPECT_EQ(before["retry"], 0);
  EXPECT_EQ(after["retry"], 1);
  EXPECT_EQ(before["job_id"], now["job_id"]);
  EXPECT_EQ(after["job_id"], now["job_id"]);
  EXPECT_EQ(before["launch_id"], after["launch_id"]);
  EXPECT_EQ(before["job"]["id"], requeued_job);
  EXPECT_EQ(after["job"]["id"], requeued_job);
  lane_->cancel(requeued_job);
}

TEST_F(OnSlurm, AJobThatIsRequeuedAfterItsEndIsFollowedAgain) {
  ASSERT_NE(job_requeued_after_its_end, 0);
  json now;
  ASSERT_TRUE(wait_until([&] {
    now = lane_->job(job_requeued_after_its_end);
    return now["state"] == "completed" && now["restart_count"] == 1 && now["runs"].size() == 2;
  })) << now.dump(1);
  for (std::size_t retry = 0; retry < 2; ++retry) {
    json run;
    EXPECT_TRUE(wait_until([&] {
      run = lane_->get_json("/api/v1/runs/" + now["runs"][retry].dump());
      return run["status"] == "complete";
    })) << run.dump(1);
    EXPECT_EQ(run["retry"], retry);
    EXPECT_EQ(run["job_id"], now["job_id"]);
    EXPECT_EQ(run["launch_id"], now["launch_id"]);
  }
}

TEST_F(OnSlurm, ALostNodeEndsItsJob) {
  ASSERT_NE(job_of_a_lost_node, 0);
  const json ended = plain_->wait_for(job_of_a_lost_node, {"node_failed"});
  EXPECT_FALSE(ended["ended_at"].is_null());
  const CommandAnswer started = plain_->node("start", "node1");
  EXPECT_EQ(started.exit_code, 0) << started.output << started.errors;
}

TEST_F(OnSlurm, NothingIsLostWhileTheControllerIsDown) {
  const Gate gate(*plain_, "outage");
  const auto id = begin(*plain_, gate.behind(single_rank_on("node2", 50)));
  ASSERT_EQ(plain_->controller("stop").exit_code, 0);
  json listed;
  EXPECT_TRUE(wait_until([&] {
    listed = plain_->get_json("/api/v1/jobs");
    return !listed["slurm_error"].is_null();
  }));
  EXPECT_THAT(listed["slurm_error"].get<std::string>(), HasSubstr("squeue"));
  EXPECT_EQ(listed["jobs"][0]["state"], "running") << "no answer is no information";

  const cli::Answer refused =
      plain_->ask("POST", "/api/v1/jobs", single_rank_on("node2", 50).dump());
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("slurmctld does not answer"));
  const CommandAnswer command = plain_->report(
      {"submit", "-w", "pretrain_nemotron4", "-s", "15b", "--dtype", "bf16", "--scale", "16"});
  EXPECT_EQ(command.exit_code, 1) << command.output;
  EXPECT_THAT(command.output + command.errors, HasSubstr("slurmctld does not answer"));
  listed = plain_->get_json("/api/v1/jobs")["jobs"];
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(listed[i]["state"], "not_submitted");
    EXPECT_TRUE(listed[i]["job_id"].is_null());
  }
  EXPECT_EQ(listed[2]["id"], id);

  gate.open();  // it ends while nobody listens
  EXPECT_EQ(plain_->wait_for_run(id, "complete")["step_count"], 50);
  EXPECT_EQ(plain_->job(id)["state"], "running");
  const CommandAnswer started = plain_->controller("start");
  ASSERT_EQ(started.exit_code, 0) << started.output << started.errors;
  const json ended = plain_->wait_for(id, {"completed"});
  EXPECT_EQ(ended["exit_code"], 0);
  EXPECT_TRUE(plain_->get_json("/api/v1/jobs")["slurm_error"].is_null());
  EXPECT_EQ(plain_->slurm({"squeue", "--noheader"}).output, "") << "nothing was submitted";
}

TEST_F(OnSlurm, TheTimeLimitIsTold) {
  ASSERT_NE(job_beyond_its_limit, 0);
  const json job = lane_->wait_for(job_beyond_its_limit, {"timed_out"});
  EXPECT_FALSE(job["ended_at"].is_null());
  const json run = lane_->wait_for_run(job_beyond_its_limit, "failed");
  EXPECT_EQ(run["failure"]["cause"], "time_limit") << run.dump(1);
}

}  // namespace
}  // namespace llmb::slurm_test
