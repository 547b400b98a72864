// What becomes of jobs on a real Slurm: through the daemon's API, its poller and its ingest, and
// through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/dispatch/slurm_commands.h"
#include "tests/slurm/test_cluster.h"

namespace llmb::slurm_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kForever = 1'000'000;

class Ending : public ::testing::Environment {
 public:
  void TearDown() override { TestCluster::end_all(); }
};
[[maybe_unused]] const auto* const kEnding =
    ::testing::AddGlobalTestEnvironment(std::make_unique<Ending>().release());

class OnSlurm : public ::testing::Test {
 protected:
  // What Slurm takes its time for begins first, and is looked at last.
  static void SetUpTestSuite() {
    const TestCluster* const cluster = TestCluster::get("accounting");
    const TestCluster* const plain = TestCluster::get("plain");
    if (cluster == nullptr || plain == nullptr) return;
    json submission = single_rank_on("node2", kForever);
    submission["slurm"]["time"] = "1";  // minutes: there is no shorter limit
    job_beyond_its_limit = begin(*cluster, submission);

    submission = single_rank_on("node1", kForever);
    submission["slurm"]["requeue"] = true;
    requeued_job = begin(*cluster, submission);
    const json first = cluster->wait_for_run(requeued_job, "running");
    const CommandAnswer requeued = cluster->slurm({"scontrol", "requeue", first["job_id"].dump()});
    EXPECT_EQ(requeued.exit_code, 0) << requeued.errors;

    submission = single_rank_on("node1", 50);
    submission["slurm"]["requeue"] = true;
    job_requeued_after_its_end = cluster->submit(submission)["id"].get<std::int64_t>();
    const json done = cluster->wait_for(job_requeued_after_its_end, {"completed"});
    const CommandAnswer again = cluster->slurm({"scontrol", "requeue", done["job_id"].dump()});
    EXPECT_EQ(again.exit_code, 0) << again.errors;

    submission = single_rank_on("node1", kForever);
    submission["slurm"]["no-requeue"] = true;
    job_of_a_lost_node = begin(*plain, submission);
    const CommandAnswer killed = plain->node("kill", "node1");
    EXPECT_EQ(killed.exit_code, 0) << killed.errors;
  }

  static std::int64_t begin(const TestCluster& cluster, const json& submission) {
    const auto id = cluster.submit(submission)["id"].get<std::int64_t>();
    cluster.wait_for(id, {"running"});
    return id;
  }

  void SetUp() override {
    cluster_ = TestCluster::get("accounting");
    plain_ = TestCluster::get("plain");
    if (cluster_ == nullptr || plain_ == nullptr) {
      GTEST_SKIP() << "there is no Slurm here: see the test slurm.up";
    }
  }

  const TestCluster* cluster_ = nullptr;
  const TestCluster* plain_ = nullptr;
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
    const Gate gate(*cluster_, family);
    json submission = gate.behind(tiny_submission(family, 50));
    submission["slurm"] = {{"hold", true}};
    const json job = cluster_->submit(submission);
    EXPECT_EQ(job["state"], "pending");
    jobs.emplace_back(job["id"].get<std::int64_t>(), gate);
  }
  for (const auto& [id, gate] : jobs) {
    const json pending = cluster_->wait_for(id, {"pending"});
    SCOPED_TRACE(pending["experiment"].get<std::string>());
    ASSERT_EQ(cluster_->slurm({"scontrol", "release", pending["job_id"].dump()}).exit_code, 0);
    const json running = cluster_->wait_for(id, {"running"});
    EXPECT_EQ(running["nodes"], "node[1-2]");
    gate.open();
    const json ended = cluster_->wait_for(id, {"completed"});
    ASSERT_EQ(ended["state"], "completed");
    EXPECT_EQ(ended["exit_code"], 0);
    EXPECT_EQ(ended["started_at"], running["started_at"]);
    EXPECT_LE(ended["started_at"].get<std::string>(), ended["ended_at"].get<std::string>());
    std::vector<std::string> states = cluster_->told_states(id, "completed");
    std::erase(states, "completing");  // for an instant, or longer
    EXPECT_THAT(states, ElementsAre("submitting", "pending", "running", "completed"));

    const json run = cluster_->wait_for_run(id, "complete");
    EXPECT_EQ(run["job_id"], ended["job_id"]);
    EXPECT_EQ(run["job"]["id"], id);
    EXPECT_EQ(run["job"]["state"], "completed");
    EXPECT_EQ(run["step_count"], 50);
    EXPECT_EQ(run["gpu_count"], 8);
    EXPECT_GT(run["step_time_s_mean"].get<double>(), 0);
    const json listed = cluster_->get_json("/api/v1/runs?job_id=" + ended["job_id"].dump())["runs"];
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["id"], run["id"]);
    EXPECT_EQ(listed[0]["status"], "complete");
    const json metrics = cluster_->get_json("/api/v1/runs/" + run["id"].dump() + "/metrics");
    EXPECT_TRUE(metrics.is_object()) << metrics;
    const json log = cluster_->get_json("/api/v1/jobs/" + std::to_string(id) + "/log");
    EXPECT_THAT(log["path"].get<std::string>(), HasSubstr("_" + ended["job_id"].dump() + "_0.out"));
    EXPECT_THAT(log["text"].get<std::string>(), HasSubstr("rank_count=8"));
    const std::filesystem::path folder = std::filesystem::path(log["path"]).parent_path();
    std::ifstream phases(folder / ("phases_" + ended["job_id"].dump() + ".jsonl"));
    int steps = 0;
    for (std::string line; std::getline(phases, line); ++steps) {
      EXPECT_EQ(json::parse(line)["step"], steps) << line;
    }
    EXPECT_EQ(steps, 50);
  }
}

TEST_F(OnSlurm, TheCommandLineSubmitsWaitsAndShows) {
  Words words = {
      "submit", "-w",      "pretrain_nemotron4", "-s",    "15b", "--dtype", "bf16", "--scale",
      "8",      "--proxy", "--copy-runner",      "--wait"};
  const json tiny = tiny_submission("nemotron4", 50);
  for (const auto& [name, value] : tiny["runner_options"].items()) {
    words.insert(words.end(), {"--set", name + "=" + value.dump()});
  }
  const CommandAnswer submitted = cluster_->report(words);
  ASSERT_EQ(submitted.exit_code, 0) << submitted.output << submitted.errors;
  EXPECT_THAT(submitted.output, HasSubstr("complete"));
  words[words.size() - 1 - 2 * tiny["runner_options"].size()] = "--dry-run";
  EXPECT_THAT(cluster_->report(words).output,
              testing::ContainsRegex("backend = cpu .the cluster's .*/programs/runner-"));
  const json newest = cluster_->get_json("/api/v1/jobs?limit=1")["jobs"][0];
  EXPECT_EQ(newest["state"], "completed");
  const std::string id = newest["id"].dump();
  EXPECT_THAT(cluster_->report({"jobs"}).output, HasSubstr(newest["job_id"].dump()));
  EXPECT_THAT(cluster_->report({"jobs", "show", id}).output, HasSubstr("completed"));
  EXPECT_THAT(cluster_->report({"jobs", "log", id}).output, HasSubstr("iteration 49/49"));
  // The daemon saw nothing of its submission, and has its run all the same.
  EXPECT_EQ(cluster_->wait_for_run(newest["id"].get<std::int64_t>(), "complete")["step_count"], 50);
  const CommandAnswer unknown = cluster_->report({"jobs", "show", "999999"});
  EXPECT_EQ(unknown.exit_code, 1) << unknown.output;
}

// Where nobody names a backend, a job asks for the best that the runner has. A node without a
// device refuses a whole model in words that are a failure's class.
TEST_F(OnSlurm, ADefaultSubmissionReachesTheCudaBackendsOwnRefusal) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a GPU";
  const CommandAnswer version = run({LLMB_BINARY_DIR "/bin/llmb-step-runner", "--version"});
  if (version.output.find("backends: cpu cuda") == std::string::npos) {
    GTEST_SKIP() << "this build has no CUDA backend: cmake says why";
  }
  const Words words = {"submit",  "-w", "pretrain_llama3.1", "-s", "8b",    "--dtype", "fp8",
                       "--scale", "16", "--gpus-per-node",   "8",  "--wait"};
  Words dry = words;
  dry.back() = "--dry-run";
  const CommandAnswer planned = cluster_->report_without_a_backend(dry);
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_THAT(planned.output, HasSubstr("#   backend = cuda (what the runner has)"));
  const CommandAnswer submitted = cluster_->report_without_a_backend(words);
  EXPECT_NE(submitted.exit_code, 0) << submitted.output << submitted.errors;
  const json newest = cluster_->get_json("/api/v1/jobs?limit=1")["jobs"][0];
  ASSERT_EQ(newest["state"], "failed") << newest.dump(1);
  json run;
  EXPECT_TRUE(wait_until([&] {
    const json runs = cluster_->job(newest["id"].get<std::int64_t>())["runs"];
    if (!runs.empty()) run = cluster_->get_json("/api/v1/runs/" + runs.back().dump());
    return run.is_object() && !run["failure"].is_null();
  })) << run.dump(1);
  EXPECT_EQ(run["failure"]["cause"], "gpu_unavailable") << run.dump(1);
  EXPECT_THAT(run["failure"].dump(), HasSubstr("No CUDA GPUs are available to this program"));
}

// nemotron4: "DTYPE=bf16 MODEL_SIZE=15b JOB_TOTAL_GPUS=16 GPUS_PER_NODE=8 ./launch.sh will produce
// results under $STAGE_PATH/experiments/…": it submits by itself, where it is called.
TEST_F(OnSlurm, TheJobOfARecipesLaunchScriptIsOurs) {
  const std::filesystem::path script = cluster_->folder() / "launch.sh";
  std::ofstream(script)
      << "#!/bin/bash\nset -eu\nname=\"recipe_${MODEL_SIZE}_${DTYPE}_${JOB_TOTAL_GPUS}\"\n"
         "[ -z \"${SLURM_JOB_ID:-}\" ] || exit 9\n"
         "folder=\"$STAGE_PATH/experiments/$name/${name}_1750000000/$name\"\n"
         "mkdir -p \"$folder\"\n"
         "cat >\"$folder/job.sh\" <<END\n#!/bin/bash\n"
         "srun --nodes=2 --ntasks=2 --output=$folder/log-own.${name}_%j_0.out " LLMB_BINARY_DIR
         "/bin/llmb-step-runner --workload=pretrain_nemotron4 "
         "--model-size=15b --dtype=bf16 --backend=cpu --num-layers=2 --hidden-size=32 "
         "--num-attention-heads=4 --num-query-groups=2 --head-size=8 --ffn-hidden-size=64 "
         "--vocab-size=64 --seq-length=32 --micro-batch-size=1 --global-batch-size=2 --tp=1 "
         "--pp=1 --cp=1 --vp=1 --steps=50 --scale=2\nEND\n"
         "cd \"$folder\"\nsbatch --nodes=2 --ntasks-per-node=1 "
         "--output=$folder/sbatch_own.${name}_%j.out job.sh\n";
  json submission = tiny_submission("nemotron4", 50);
  submission.erase("runner_options");
  submission["launcher"] = "recipe";
  submission["slurm"] = {{"partition", "batch"}};
  const json sent = cluster_->submit(submission);
  EXPECT_EQ(sent["launch_id"], "recipe_15b_bf16_8_1750000000") << sent.dump(1);
  const auto id = sent["id"].get<std::int64_t>();
  const json ended = cluster_->wait_for(id, {"completed"});
  EXPECT_TRUE(ended["trouble"].is_null()) << ended.dump(1);
  const json run = cluster_->wait_for_run(id, "complete");
  EXPECT_EQ(run["step_count"], 50);
  EXPECT_EQ(run["job_id"], ended["job_id"]);
  const json log = cluster_->get_json("/api/v1/jobs/" + std::to_string(id) + "/log?of=batch");
  EXPECT_FALSE(log["path"].is_null());
  // One that fails leaves no job, and says what it said.
  std::ofstream(script) << "#!/bin/bash\necho 'sbatch: error: GPUs not found' >&2; exit 1\n";
  const cli::Answer recorded = cluster_->ask("POST", "/api/v1/jobs", submission.dump());
  const json refused =
      cluster_->wait_for(recorded.json()["jobs"][0]["id"].get<std::int64_t>(), {"not_submitted"});
  EXPECT_THAT(refused["trouble"].get<std::string>(), HasSubstr("SBATCH_GPUS_PER_NODE"));
}

TEST_F(OnSlurm, AJobIsCancelledOnceAndTwice) {
  const auto id =
      begin(*cluster_, Gate(*cluster_, "never").behind(tiny_submission("nemotron4", 50)));
  const std::string path = "/api/v1/jobs/" + std::to_string(id);
  const cli::Answer first = cluster_->ask("DELETE", path);
  ASSERT_THAT(first.status, AnyOf(200, 202)) << first.body;
  const cli::Answer again = cluster_->ask("DELETE", path);
  ASSERT_THAT(again.status, AnyOf(200, 202)) << again.body;
  EXPECT_EQ(again.json()["cancel_requested_at"], first.json()["cancel_requested_at"]);
  const json ended = cluster_->wait_for(id, {"cancelled"});
  EXPECT_FALSE(ended["started_at"].is_null());
  EXPECT_FALSE(ended["ended_at"].is_null());
  const cli::Answer late = cluster_->ask("DELETE", path);
  EXPECT_EQ(late.status, 200) << late.body;
  const CommandAnswer command = cluster_->report({"jobs", "cancel", std::to_string(id)});
  EXPECT_EQ(command.exit_code, 0) << command.errors;
}

TEST_F(OnSlurm, AJobThatWasCancelledInTheQueueNeverStarted) {
  json submission = tiny_submission("nemotron4", 50);
  submission["slurm"] = {{"hold", true}};
  const auto id = cluster_->submit(submission)["id"].get<std::int64_t>();
  EXPECT_TRUE(wait_until([&] { return cluster_->job(id)["state_reason"] == "JobHeldUser"; }));
  cluster_->cancel(id);
  EXPECT_TRUE(cluster_->job(id)["started_at"].is_null()) << cluster_->job(id);
  EXPECT_TRUE(cluster_->job(id)["runs"].empty());
}

// What a daemon that was killed after sbatch has to go by, once slurmctld has forgotten the job.
TEST_F(OnSlurm, AccountingKnowsAJobThatWasNeverEligible) {
  dispatch::ClusterSettings settings;
  settings.slurm_conf = (cluster_->cluster_folder() / "slurm.conf").string();
  const dispatch::SlurmCommands slurm(settings);
  const std::int64_t since_s = std::time(nullptr) - 5;
  for (const char* waits : {"--hold", "--begin=now+1hour"}) {
    const std::string folder = (cluster_->folder() / waits).string();
    std::filesystem::create_directories(folder);
    const CommandAnswer submitted =
        cluster_->slurm({"sbatch", "--parsable", waits, "--chdir=" + folder, "--wrap=true"});
    ASSERT_EQ(submitted.exit_code, 0) << submitted.errors;
    const std::int64_t id = std::stoll(submitted.output);
    ASSERT_TRUE(slurm.scancel(id));
    EXPECT_TRUE(wait_until([&] {
      const auto found = slurm.find_by_folder(folder, since_s);
      return found && *found == id;
    })) << waits;
  }
}

TEST_F(OnSlurm, WhatCanNeverStartIsSaidToBeSo) {
  json submission = tiny_submission("nemotron4", 50);
  submission["slurm"] = {{"partition", "small"}};  // it has one node
  const auto id = cluster_->submit(submission)["id"].get<std::int64_t>();
  EXPECT_TRUE(wait_until([&] { return !cluster_->job(id)["trouble"].is_null(); }));
  EXPECT_EQ(cluster_->job(id)["state"], "pending");
  cluster_->cancel(id);
  submission["slurm"] = {{"partition", "nowhere"}};
  const cli::Answer recorded = cluster_->ask("POST", "/api/v1/jobs", submission.dump());
  ASSERT_EQ(recorded.status, 202) << recorded.body;
  const json refused =
      cluster_->wait_for(recorded.json()["jobs"][0]["id"].get<std::int64_t>(), {"not_submitted"});
  EXPECT_THAT(refused["trouble"].get<std::string>(), HasSubstr("nvalid partition"));
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
    now = cluster_->job(requeued_job);
    return now["restart_count"] == 1 && now["state"] == "running" && now["runs"].size() == 2;
  })) << now.dump(1);
  const json before = cluster_->get_json("/api/v1/runs/" + now["runs"][0].dump());
  const json after = cluster_->get_json("/api/v1/runs/" + now["runs"][1].dump());
  EXPECT_EQ(before["retry"], 0);
  EXPECT_EQ(after["retry"], 1);
  EXPECT_EQ(before["job_id"], now["job_id"]);
  EXPECT_EQ(after["job_id"], now["job_id"]);
  EXPECT_EQ(before["launch_id"], after["launch_id"]);
  EXPECT_EQ(before["job"]["id"], requeued_job);
  EXPECT_EQ(after["job"]["id"], requeued_job);
  cluster_->cancel(requeued_job);
}

TEST_F(OnSlurm, AJobThatIsRequeuedAfterItsEndIsFollowedAgain) {
  ASSERT_NE(job_requeued_after_its_end, 0);
  json now;
  ASSERT_TRUE(wait_until([&] {
    now = cluster_->job(job_requeued_after_its_end);
    return now["state"] == "completed" && now["restart_count"] == 1 && now["runs"].size() == 2;
  })) << now.dump(1);
  for (std::size_t retry = 0; retry < 2; ++retry) {
    json run;
    EXPECT_TRUE(wait_until([&] {
      run = cluster_->get_json("/api/v1/runs/" + now["runs"][retry].dump());
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
  gate.wait_for_job();
  ASSERT_EQ(plain_->controller("stop").exit_code, 0);
  json listed;
  EXPECT_TRUE(wait_until([&] {
    listed = plain_->get_json("/api/v1/jobs");
    return !listed["slurm_error"].is_null();
  }));
  EXPECT_THAT(listed["slurm_error"].get<std::string>(), HasSubstr("squeue"));
  EXPECT_EQ(listed["jobs"][0]["state"], "running") << "no answer is no information";

  const cli::Answer recorded =
      plain_->ask("POST", "/api/v1/jobs", single_rank_on("node2", 50).dump());
  ASSERT_EQ(recorded.status, 202) << recorded.body;
  const json refused =
      plain_->wait_for(recorded.json()["jobs"][0]["id"].get<std::int64_t>(), {"not_submitted"});
  EXPECT_THAT(refused["trouble"].get<std::string>(), HasSubstr("slurmctld does not answer"));
  const CommandAnswer command = plain_->report({"submit", "-w", "pretrain_nemotron4", "-s", "15b",
                                                "--dtype", "bf16", "--scale", "16", "--proxy"});
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
  // A controller that has just begun may leave one more question without an answer.
  EXPECT_TRUE(wait_until([&] {
    listed = plain_->get_json("/api/v1/jobs");
    return listed["slurm_error"].is_null();
  })) << listed["slurm_error"];
  EXPECT_EQ(plain_->slurm({"squeue", "--noheader"}).output, "") << "nothing was submitted";
}

TEST_F(OnSlurm, EightCommandLinesWithOneKeyMakeOneJob) {
  const auto newest = [&] { return cluster_->get_json("/api/v1/jobs?limit=1")["jobs"][0]["id"]; };
  const auto before = newest().get<std::int64_t>();
  // The cluster may have seen this test before.
  const std::string key = "eight after " + std::to_string(before);
  Words words = {"submit",
                 "-w",
                 "pretrain_nemotron4",
                 "-s",
                 "15b",
                 "--dtype",
                 "bf16",
                 "--scale",
                 "1",
                 "--proxy",
                 "--set",
                 "steps=1",
                 "--slurm-arg",
                 "hold",
                 "--idempotency-key",
                 key};
  std::vector<std::thread> threads;
  std::vector<CommandAnswer> answers(8);
  for (CommandAnswer& answer : answers) {
    threads.emplace_back([&] { answer = cluster_->report(words); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const CommandAnswer& answer : answers) EXPECT_EQ(answer.exit_code, 0) << answer.errors;
  const auto id = newest().get<std::int64_t>();
  EXPECT_EQ(id, before + 1);
  const json job = cluster_->wait_for(id, {"pending"});
  const json queue = json::parse(cluster_->slurm({"squeue", "--json"}).output);
  std::size_t held = 0;
  for (const json& entry : queue["jobs"]) {
    held += entry["name"] == job["experiment"] && entry["job_state"] == "PENDING" ? 1 : 0;
  }
  EXPECT_EQ(held, 1U);
  // It is the user's: the token of the suite may not cancel it.
  const cli::Answer forbidden = cluster_->ask("DELETE", "/api/v1/jobs/" + std::to_string(id));
  EXPECT_EQ(forbidden.status, 403) << forbidden.body;
  const CommandAnswer cancelled = cluster_->report({"jobs", "cancel", std::to_string(id)});
  EXPECT_EQ(cancelled.exit_code, 0) << cancelled.errors;
  cluster_->wait_for(id, {"cancelled"});
}

// slurmctld hangs: it takes what it is sent, and answers when it goes on. The request that it had
// from a sbatch that is dead by then becomes a job, and a repetition of the request no second one.
TEST_F(OnSlurm, AHungControllerMakesNoJobTwice) {
  const Gate gate(*cluster_, "hung");
  const std::string body = gate.behind(single_rank_on("node2", 50)).dump();
  const auto post = [&] { return cluster_->ask("POST", "/api/v1/jobs", body, "hung-1"); };
  cluster_->signal_controller(SIGSTOP);
  const cli::Answer first = post();
  const cli::Answer health = cluster_->ask("GET", "/healthz");
  const auto id = first.json()["jobs"][0]["id"].get<std::int64_t>();
  const bool was_called =
      wait_until([&] { return !cluster_->job(id)["trouble"].is_null(); });  // sbatch gave up
  const json waiting = cluster_->job(id);
  const cli::Answer second = post();
  cluster_->signal_controller(SIGCONT);
  EXPECT_EQ(first.status, 202) << first.body;
  EXPECT_EQ(health.status, 200);
  EXPECT_TRUE(was_called);
  EXPECT_EQ(waiting["state"], "submitting") << "silence is no refusal";
  EXPECT_EQ(second.json()["jobs"][0]["id"], id);
  json job;
  EXPECT_TRUE(wait_until([&] {
    job = cluster_->job(id);
    return job["state"] == "running" || job["state"] == "not_submitted";
  })) << job.dump(1);
  const cli::Answer third = post();
  const auto last = third.json()["jobs"][0]["id"].get<std::int64_t>();
  gate.open();
  cluster_->wait_for(last, {"completed"});
  const json queue = json::parse(cluster_->slurm({"squeue", "--json", "--states=all"}).output);
  std::size_t jobs = 0;
  for (const json& entry : queue["jobs"]) {
    jobs += entry["name"] == cluster_->job(last)["experiment"] &&
                    entry["command"].get<std::string>().find(job["launch_id"].get<std::string>()) !=
                        std::string::npos
                ? 1
                : 0;
  }
  EXPECT_LE(jobs, 1U);
  if (job["state"] == "running") {
    EXPECT_EQ(last, id) << "the request is done, and its repetition reads";
    EXPECT_EQ(jobs, 1U);
  }
}

TEST_F(OnSlurm, TheTimeLimitIsTold) {
  ASSERT_NE(job_beyond_its_limit, 0);
  const json job = cluster_->wait_for(job_beyond_its_limit, {"timed_out"});
  EXPECT_FALSE(job["ended_at"].is_null());
  const json run = cluster_->wait_for_run(job_beyond_its_limit, "failed");
  EXPECT_EQ(run["failure"]["cause"], "time_limit") << run.dump(1);
}

}  // namespace
}  // namespace llmb::slurm_test
