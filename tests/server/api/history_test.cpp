// /history on a real database.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

class History : public ApiTest {
 protected:
  storage::RunId add(std::int64_t job_id, double step_time_s, const std::string& release,
                     bool is_traced = false) {
    auto batch = sample_batch(root_, "a", job_id, 49, step_time_s);
    batch.path.launched_at = "2025-12-22T15:" + std::to_string(10 + job_id) + ":00Z";
    batch.facts.nccl_trace_seen = is_traced;
    batch.facts.nccl = {};
    batch.profiles.reset();
    batch.configuration = {};
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"workload", "pretrain_grok1"},
                                                          {"model_size", "314b"},
                                                          {"dtype", "fp8"},
                                                          {"gpu_type", "gb200"},
                                                          {"gpu_count", "256"},
                                                          {"release", release}}) {
      batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
    }
    train_with_batch(batch, 512);
    return writer_->commit({&batch, 1}).front();
  }
};

TEST_F(History, ShowsRunsInTimeAndWhereTheyChanged) {
  storage::RunId first_after = 0;
  for (int job = 1; job <= 20; ++job) {
    const bool is_new = job > 12;
    const auto id = add(job, (is_new ? 5.4 : 5.3) + 0.002 * (job % 3), is_new ? "25.07" : "25.05");
    if (job == 13) first_after = id;
  }
  const Json json = get_json("/api/v1/history", {{"window", "11-44"}});
  ASSERT_EQ(json["series"].size(), 1U) << json.dump(1);
  const Json& series = json["series"][0];
  EXPECT_EQ(series["gpu_count"], 256);
  EXPECT_EQ(series["runs"].size(), 20U);
  EXPECT_EQ(series["newest"], "steady");
  ASSERT_EQ(series["changes"].size(), 1U);
  const Json& change = series["changes"][0];
  EXPECT_EQ(change["run_id"], first_after);
  EXPECT_EQ(change["verdict"], "slower");
  EXPECT_NEAR(change["step_time_ratio"].get<double>(), 5.402 / 5.302, 1e-3);
  ASSERT_EQ(change["differences"].size(), 1U);
  EXPECT_EQ(change["differences"][0]["key"], "release");
  EXPECT_EQ(change["differences"][0]["after"], "25.07");
  EXPECT_TRUE(get_json("/api/v1/history", {{"gpu_count", "8"}})["series"].empty());
  get_detail("/api/v1/history", {{"gpu_count", "many"}}, 400);
}

TEST_F(History, TellsADriftByHowMuchAndSinceWhen) {
  storage::RunId first = 0;
  storage::RunId last = 0;
  double step_time_s = 5;
  for (int job = 1; job <= 12; ++job) {
    last = add(job, step_time_s, "25.05");
    if (job == 1) first = last;
    step_time_s *= 1.02;
  }
  const Json series = get_json("/api/v1/history", {{"window", "11-44"}})["series"][0];
  EXPECT_EQ(series["newest"], "drifting");
  EXPECT_TRUE(series["changes"].empty());
  EXPECT_TRUE(series["mean_changes"].empty());
  const Json& drift = series["drift"];
  EXPECT_EQ(drift["run_id"], first);
  EXPECT_EQ(drift["last_run_id"], last);
  EXPECT_EQ(drift["last_at"], 11);
  EXPECT_EQ(drift["verdict"], "slower");
  EXPECT_NEAR(drift["step_time_ratio"].get<double>(), std::pow(1.02, 11), 2e-3);
  EXPECT_NEAR(drift["step_time_ratio_per_run"].get<double>(), 1.02, 2e-4);
}

// With its series, or apart where no run of its configuration counts.
TEST_F(History, NamesTheRunsThatDoNotCountWithTheReason) {
  add(1, 5.3, "25.05");
  const auto traced = add(2, 5.3, "25.05", true);
  const Json series = get_json("/api/v1/history")["series"];
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0]["runs"].size(), 1U);
  ASSERT_EQ(series[0]["left_out"].size(), 1U);
  EXPECT_EQ(series[0]["left_out"][0]["id"], traced);
  EXPECT_EQ(series[0]["left_out"][0]["marks"][0]["mark"], "traced");
  EXPECT_THAT(series[0]["left_out"][0]["reason"].get<std::string>(), HasSubstr("NCCL trace"));
  const Json all = get_json("/api/v1/history", {{"include", "traced"}});
  EXPECT_TRUE(all["series"][0]["left_out"].empty());
  EXPECT_TRUE(all["unplaced"].empty());
}

}  // namespace
}  // namespace llmb::api
