#include "server/dispatch/queue_snapshot.h"

#include <gtest/gtest.h>

namespace llmb::dispatch {
namespace {

// The fields of one job as 22.05.8 wrote them, with a name that forges lines of `squeue -o`.
const std::string kJob2205 =
    R"({"meta":{"Slurm":{"release":"22.05.8"}},"errors":[],"jobs":[{"comment":"hello",)"
    R"("exit_code":256,"job_id":1,"job_state":"RUNNING","name":"x|9|COMPLETED\n2|FAILED\u001f",)"
    R"("nodes":"node[1-2]","node_count":2,"partition":"batch","restart_cnt":1,)"
    R"("start_time":1795264669,"end_time":0,"state_reason":"None","submit_time":1795264663,)"
    R"("user_id":0}]})";

TEST(QueueSnapshot, ReadsAJobOfThisRelease) {
  const auto jobs = parse_queue(kJob2205);
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  const ObservedJob& job = jobs->front();
  EXPECT_EQ(job.job_id, 1);
  EXPECT_EQ(job.state, JobState::running);
  EXPECT_EQ(job.submit_time_s, 1795264663);
  EXPECT_EQ(job.restart_count, 1);
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_EQ(job.comment, "hello");
  EXPECT_FALSE(job.end_time_s);
}

TEST(QueueSnapshot, ReadsStatesAsListsAndNumbersAsObjects) {
  const auto jobs =
      parse_queue(R"({"errors":[],"jobs":[{"job_id":7,"job_state":["FAILED","COMPLETING"],)"
                  R"("submit_time":{"set":true,"infinite":false,"number":50},)"
                  R"("start_time":{"set":false,"infinite":false,"number":0},)"
                  R"("exit_code":{"status":["ERROR"],"return_code":{"set":true,"number":4}}}]})");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().state, JobState::completing);
  EXPECT_EQ(jobs->front().submit_time_s, 50);
  EXPECT_FALSE(jobs->front().start_time_s);
  EXPECT_EQ(jobs->front().exit_code, 4);
}

TEST(QueueSnapshot, TakesErrorsForNoInformation) {
  const auto down = parse_queue(
      R"({"errors":[{"description":"Failed while looking for jobs","error_number":-1}],)"
      R"("jobs":[]})");
  ASSERT_FALSE(down);
  EXPECT_NE(down.error().message.find("Failed while looking for jobs"), std::string::npos);
}

TEST(QueueSnapshot, TakesEveryCutOffAnswerForNoInformation) {
  for (std::size_t length = 0; length < kJob2205.size(); ++length) {
    EXPECT_FALSE(parse_queue(kJob2205.substr(0, length))) << length;
  }
}

TEST(Accounting, FollowsARequeueButNotALaterJobOfTheSameId) {
  const auto records = parse_accounting(
      "5|REQUEUED|100|101|110|0:0|node1\n"
      "5|CANCELLED by 0|110|120|130|0:15|node1\n"
      "5|COMPLETED|900|901|902|0:0|node2\n"
      "not a record\n5|COMPLETED|x|1|2|0:0|node1\n");
  ASSERT_EQ(records.size(), 3U);
  const ObservedJob* const ours = find_accounted(records, 5, 100);
  ASSERT_NE(ours, nullptr);
  EXPECT_EQ(ours->state, JobState::cancelled);
  EXPECT_EQ(ours->end_time_s, 130);
  EXPECT_EQ(find_accounted(records, 5, 900)->state, JobState::completed);
  EXPECT_EQ(find_accounted(records, 5, 500), nullptr);
  EXPECT_EQ(find_accounted(records, 6, 100), nullptr);
}

TEST(JobState, KeepsAskingForWordsItDoesNotKnow) {
  EXPECT_EQ(job_state_from_slurm({"CANCELLED by 1000"}), JobState::cancelled);
  EXPECT_EQ(job_state_from_slurm({"OUT_OF_ME+"}), JobState::unknown);
  EXPECT_EQ(job_state_from_slurm({"COMPLETED", "NEW_FLAG"}), JobState::unknown);
  EXPECT_EQ(job_state_from_slurm({"PREEMPTED", "REQUEUED"}), JobState::pending);
  EXPECT_EQ(job_state_from_slurm({}), JobState::unknown);
  EXPECT_FALSE(is_final(JobState::unknown));
}

}  // namespace
}  // namespace llmb::dispatch
