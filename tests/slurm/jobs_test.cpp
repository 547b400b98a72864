// What becomes of jobs on a real Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/dispatch/job_evidence.h"
#include "tests/slurm/lane.h"

namespace llmb::slurm_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kForever = 1'000'000;

class Ending : public ::testing::Environment {
 public:
  void TearDown() override { Lane::end_all(); }
};
[[maybe_unused]] const auto* const kEnding =
    ::testing::AddGlobalTestEnvironment(std::make_unique<Ending>().release());

class OnSlurm : public ::testing::Test {
 protected:
  void SetUp() override {
    lane_ = Lane::get("accounting");
    if (lane_ == nullptr) GTEST_SKIP() << "there is no Slurm here: see the test slurm.up";
  }

  // On one node, until it is ended.
  static json endless_on(const std::string& node) {
    json submission = tiny_submission("nemotron4", kForever);
    submission["scale"] = 4;
    submission["runner_options"]["global-batch-size"] = 4;
    submission["slurm"] = {{"nodelist", node}};
    return submission;
  }

  Lane* lane_ = nullptr;
  // Slurm's shortest limit is a minute: the job that exceeds it runs while the others do.
  static storage::JobRowId job_beyond_its_limit;
};
storage::JobRowId OnSlurm::job_beyond_its_limit = 0;

TEST_F(OnSlurm, AJobIsSentToItsTimeLimit) {
  json submission = endless_on("node2");
  submission["slurm"]["time"] = "1";
  job_beyond_its_limit = lane_->submit(submission).id;
  EXPECT_EQ(lane_->wait_for(job_beyond_its_limit, {"running"}).nodes, "node2");
}

TEST_F(OnSlurm, EveryFamilyRunsOnTwoNodes) {
  std::vector<storage::JobRecord> jobs;
  for (const char* family : {"grok1", "llama3.1", "llama4_maverick", "nemotron4"}) {
    jobs.push_back(lane_->submit(tiny_submission(family, 50)));
  }
  for (const storage::JobRecord& job : jobs) {
    SCOPED_TRACE(job.experiment);
    const auto ended = lane_->wait_for(job.id, {"completed", "failed", "node_failed", "ended"});
    const dispatch::JobLogs logs = dispatch::job_logs(ended);
    ASSERT_EQ(ended.state, "completed") << run({"tail", logs.log, logs.batch_output}).output;
    EXPECT_EQ(ended.nodes, "node[1-2]");
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(lane_->states_of(job.id), Contains("pending"));
    EXPECT_THAT(lane_->states_of(job.id), Contains("running"));
    const json run = parsed_run(logs.log);
    ASSERT_TRUE(run.is_object()) << logs.log;
    EXPECT_EQ(run["status"], "complete") << run.dump(1);
    EXPECT_EQ(run["step_count"], 50);
    EXPECT_THAT(logs.log, HasSubstr("_" + std::to_string(*ended.job_id) + "_0.out"));
  }
}

TEST_F(OnSlurm, AJobIsCancelledOnceAndTwice) {
  const auto id = lane_->submit(tiny_submission("nemotron4", kForever)).id;
  lane_->wait_for(id, {"running"});
  const auto first = lane_->dispatcher().cancel(id);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto again = lane_->dispatcher().cancel(id);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->cancel_requested_at, first->cancel_requested_at);
  EXPECT_TRUE(lane_->wait_for(id, {"cancelled"}).ended_at.has_value());
  const auto late = lane_->dispatcher().cancel(id);
  ASSERT_TRUE(late.has_value()) << late.error().message;
  EXPECT_EQ(late->state, "cancelled");
}

TEST_F(OnSlurm, ARequeuedJobStartsAgainInTheSameFolder) {
  json submission = tiny_submission("nemotron4", kForever);
  submission["slurm"] = {{"requeue", true}};
  const auto id = lane_->submit(submission).id;
  const auto first = lane_->wait_for(id, {"running"});
  const auto log = [&] { return dispatch::job_logs(lane_->job(id)).log; };
  ASSERT_TRUE(wait_until([&] { return log().ends_with("_0.out"); }));
  const auto requeued = lane_->slurm({"scontrol", "requeue", std::to_string(*first.job_id)});
  ASSERT_EQ(requeued.exit_code, 0) << requeued.errors;
  EXPECT_TRUE(wait_until([&] {
    const auto now = lane_->job(id);
    return now.restart_count == 1 && now.state == "running" && log().ends_with("_1.out");
  })) << lane_->job(id).state
      << log();
  EXPECT_EQ(lane_->job(id).job_id, first.job_id);
  EXPECT_TRUE(lane_->dispatcher().cancel(id).has_value());
  lane_->wait_for(id, {"cancelled"});
}

TEST_F(OnSlurm, WhatCanNeverStartIsSaidToBeSo) {
  json submission = tiny_submission("nemotron4", 50);
  submission["slurm"] = {{"partition", "small"}};  // it has one node
  const auto id = lane_->submit(submission).id;
  EXPECT_TRUE(wait_until([&] { return !lane_->job(id).trouble.empty(); }));
  EXPECT_EQ(lane_->job(id).state, "pending");
  EXPECT_TRUE(lane_->dispatcher().cancel(id).has_value());
  lane_->wait_for(id, {"cancelled"});
  submission["slurm"] = {{"partition", "nowhere"}};
  EXPECT_THROW(lane_->submit(submission), std::runtime_error);
}

TEST_F(OnSlurm, WithoutAccountingTheEndIsKnownToo) {
  Lane* const plain = Lane::get("plain");
  ASSERT_NE(plain, nullptr);
  const auto done = plain->submit(tiny_submission("nemotron4", 50)).id;
  const auto gone = plain->submit(tiny_submission("nemotron4", kForever)).id;
  plain->wait_for(done, {"completed"});
  plain->wait_for(gone, {"running"});
  EXPECT_TRUE(plain->dispatcher().cancel(gone).has_value());
  plain->wait_for(gone, {"cancelled"});
}

TEST_F(OnSlurm, ALostNodeEndsItsJob) {
  json submission = endless_on("node1");
  submission["slurm"]["no-requeue"] = true;
  const auto id = lane_->submit(submission).id;
  lane_->wait_for(id, {"running"});
  const CommandAnswer killed = lane_->node("kill", "node1");
  ASSERT_EQ(killed.exit_code, 0) << killed.errors;
  EXPECT_TRUE(lane_->wait_for(id, {"node_failed"}).ended_at.has_value());
  const CommandAnswer started = lane_->node("start", "node1");
  EXPECT_EQ(started.exit_code, 0) << started.output << started.errors;
}

TEST_F(OnSlurm, TheTimeLimitIsTold) {
  ASSERT_NE(job_beyond_its_limit, 0);
  const auto job = lane_->wait_for(job_beyond_its_limit, {"timed_out"});
  EXPECT_TRUE(job.ended_at.has_value());
  const json run = parsed_run(dispatch::job_logs(job).log);
  ASSERT_TRUE(run.is_object());
  EXPECT_EQ(run["status"], "failed") << run.dump(1);
}

}  // namespace
}  // namespace llmb::slurm_test
