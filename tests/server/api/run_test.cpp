// GET /api/v1/runs/{id}, its steps and its statistics.
#include <gmock/gmock.h>

#include "parser/statistics/run_summary.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using RunResource = ApiTest;

std::string path_of(storage::RunId id, const std::string& rest = "") {
  return "/api/v1/runs/" + std::to_string(id) + rest;
}

TEST_F(RunResource, TellsConfigurationWithItsSources) {
  const auto id = add_run("alpha", 1, 20, 7.5);
  const Json run = get_json(path_of(id));
  EXPECT_EQ(run["status"], "failed");
  bool has_dtype = false;
  for (const Json& entry : run["configuration"]) {
    if (entry["key"] != "dtype") continue;
    has_dtype = true;
    EXPECT_EQ(entry["value"], "fp8_cs");
    EXPECT_EQ(entry["source"], "experiment_name");
    EXPECT_EQ(entry["alternatives"], Json::parse(R"([{"value": "fp8", "source": "llmb_config"}])"));
  }
  EXPECT_TRUE(has_dtype);
  EXPECT_EQ(run["configuration_conflicts"], Json::parse(R"(["model_size"])"));
  EXPECT_EQ(run["segments"][0]["step_count"], 21);
  EXPECT_EQ(run["events"][0]["cause"], "time_limit");
  EXPECT_EQ(run["events"][0]["steps_before"], 21);
  EXPECT_EQ(run["bytes_read"], 10'000);
}

TEST_F(RunResource, IsNotFoundWhereThereIsNone) {
  for (const char* id : {"999", "0", "-1", "1x", "99999999999999999999"}) {
    for (const char* rest : {"", "/steps", "/statistics"}) {
      EXPECT_FALSE(get_detail(std::string("/api/v1/runs/") + id + rest, {}, 404).empty());
    }
  }
}

TEST_F(RunResource, IsGoneWhereItWasRemovedOnPurpose) {
  const auto id = add_run("alpha", 1, 20, 7.5);
  const auto other = add_run("alpha", 2, 20, 7.5);
  storage::RetentionPolicy policy;
  policy.words = "root /logs";
  const auto later = parser::parse_instant("2100-01-01T00:00:00Z").value();
  EXPECT_EQ(writer_->remove_logs(policy, std::vector{id}, later).runs, 1);
  for (const char* rest : {"", "/steps", "/steps.csv", "/steps.ndjson", "/log", "/nccl", "/ranks",
                           "/checkpoints", "/insight", "/statistics", "/metrics", "/agreement"}) {
    EXPECT_THAT(get_detail(path_of(id, rest), {}, 410),
                AllOf(HasSubstr("2100-01-01T00:00:00"), HasSubstr("\"root /logs\"")))
        << rest;
  }
  const std::string both = std::to_string(other) + "," + std::to_string(id);
  get_detail("/api/v1/compare", {{"runs", both}}, 410);
  get_json(path_of(other));
}

TEST_F(RunResource, GivesStepsAsColumns) {
  auto batch = sample_batch(root_, "alpha", 1, 3, 7.5);
  for (auto& step : batch.samples) {
    step.loss.reset();
    step.params_norm = std::numeric_limits<double>::quiet_NaN();
    step.extra_fields.clear();
  }
  batch.samples[1].step_time_s.reset();
  batch.samples[2].grad_norm = std::numeric_limits<double>::quiet_NaN();
  batch.samples[2].extra_fields = {{"odd \"name\"", 0.1}};
  const auto id = writer_->commit({&batch, 1}).front();
  const Json steps = get_json(path_of(id, "/steps"));
  EXPECT_EQ(steps["run_id"], id);
  EXPECT_EQ(steps["iteration"], Json::parse("[0,1,2,3]"));
  EXPECT_EQ(steps["segment"], Json::parse("[0,0,0,0]"));
  EXPECT_EQ(steps["step_time_s"], Json::parse("[7.5,null,7.5,7.5]"));
  EXPECT_EQ(steps["grad_norm"], Json::parse("[0.5,0.5,null,0.5]"));
  EXPECT_EQ(steps["logged_at"][3], "2025-12-22T15:18:33");
  EXPECT_FALSE(steps.contains("loss"));
  EXPECT_FALSE(steps.contains("params_norm"));
  EXPECT_EQ(steps["extra_fields"]["odd \"name\""], Json::parse("[null,null,0.1,null]"));
}

TEST_F(RunResource, GivesAPartOfTheSteps) {
  fill();
  const Json list = get_json("/api/v1/runs", {{"job_id", "5"}});
  const auto id = list["runs"][0]["id"].get<storage::RunId>();
  EXPECT_EQ(get_json(path_of(id, "/steps"))["iteration"].size(), 100U);
  EXPECT_EQ(get_json(path_of(id, "/steps"), {{"segment", "1"}})["segment"],
            Json(std::vector(50, 1)));
  const Json part = get_json(path_of(id, "/steps"), {{"segment", "1"}, {"window", "11-12"}});
  EXPECT_EQ(part["iteration"], Json::parse("[11,12]"));
  EXPECT_EQ(part["step_time_s"], Json::parse("[5.0,5.0]"));
  EXPECT_EQ(part["extra_fields"]["val_loss"], Json::parse("[2.25,2.25]"));
  EXPECT_EQ(get_detail(path_of(id, "/steps"), {{"segment", "2"}}, 404),
            "Run " + std::to_string(id) + " has no segment 2: its last one is 1.");
  get_detail(path_of(id, "/steps"), {{"window", "44-11"}}, 400);
  get_detail(path_of(id, "/steps"), {{"window", "all"}}, 400);
  get_detail(path_of(id, "/steps"), {{"segment", "-1"}}, 400);
  get_detail(path_of(id, "/steps"), {{"limit", "5"}}, 400);
}

TEST_F(RunResource, ComputesStatisticsOverAnyWindow) {
  auto batch = sample_batch(root_, "alpha", 1, 49, 7.5);
  for (auto& step : batch.samples) step.step_time_s = 1.0 + static_cast<double>(step.iteration);
  const auto id = writer_->commit({&batch, 1}).front();
  const Json statistics = get_json(path_of(id, "/statistics"), {{"window", "35-44"}});
  const auto expected = parser::summarize_run(batch.samples, batch.facts, {35, 44}, false);
  EXPECT_EQ(statistics["window"], "35-44");
  EXPECT_EQ(statistics["status_reason"], expected.status_reason);
  EXPECT_EQ(statistics["step_time_s"]["count"], 10);
  EXPECT_EQ(statistics["step_time_s"]["mean"], 40.5);
  EXPECT_EQ(statistics["step_time_s"]["stddev_sample"], expected.step_time_s->stddev_sample);
  EXPECT_EQ(statistics["tflops_per_gpu"]["max"], 444.0);
  EXPECT_NE(statistics["window_numbering"].get<std::string>().find("from 0"), std::string::npos);
  EXPECT_EQ(get_json(path_of(id, "/statistics"))["window"], "11-44");
  const Json beyond = get_json(path_of(id, "/statistics"), {{"window", "60-70"}});
  EXPECT_TRUE(beyond["step_time_s"].is_null());
  EXPECT_EQ(beyond["iterations_missing_in_window"], 11);
  get_detail(path_of(id, "/statistics"), {{"window", "5-"}}, 400);
}

TEST_F(RunResource, LeavesOutInterruptedStepsWhereThatIsAsked) {
  auto batch = sample_batch(root_, "alpha", 1, 49, 7.5);
  batch.samples[20].extra_fields = {{"after_checkpoint", 1}};
  batch.samples[20].step_time_s = 70.0;
  batch.summary = parser::summarize_run(batch.samples, batch.facts, {11, 44}, false);
  const auto id = writer_->commit({&batch, 1}).front();
  EXPECT_EQ(get_json(path_of(id))["window_interruptions"], "checkpoint: 20");
  const Json with = get_json(path_of(id, "/statistics"));
  EXPECT_EQ(with["window_interruptions"], "checkpoint: 20");
  EXPECT_EQ(with["steps_left_out"], 0);
  EXPECT_EQ(with["step_time_s"]["max"], 70.0);
  const Json without = get_json(path_of(id, "/statistics"), {{"without", "checkpoint,profile"}});
  EXPECT_EQ(without["steps_left_out"], 1);
  EXPECT_EQ(without["step_time_s"]["count"], 33);
  EXPECT_EQ(without["window_is_whole"], true);
  get_detail(path_of(id, "/statistics"), {{"without", "eval"}}, 400);

  auto other = sample_batch(root_, "beta", 2, 49, 7.5);
  const auto other_id = writer_->commit({&other, 1}).front();
  const std::string runs = std::to_string(id) + "," + std::to_string(other_id);
  const Json compared =
      get_json("/api/v1/compare", {{"runs", runs}, {"without", "checkpoint"}})["runs"];
  EXPECT_EQ(compared[0]["window_interruptions"], "checkpoint: 20");
  EXPECT_EQ(compared[0]["steps_left_out"], 1);
  EXPECT_LT(compared[0]["step_time_s_mean"], with["step_time_s"]["mean"]);
  EXPECT_TRUE(compared[1]["window_interruptions"].is_null());
}

TEST_F(RunResource, ReadsNoStepsForAClientThatHasThem) {
  const auto id = add_run("alpha", 1, 49, 7.5);
  const auto other = add_run("beta", 2, 49, 7.5);
  std::vector<std::pair<std::string, std::string>> tags;
  for (const char* rest : {"", "/steps", "/statistics"}) {
    const http::Response response = get(path_of(id, rest));
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body, nullptr);
    tags.emplace_back(path_of(id, rest), response.etag);
  }
  EXPECT_NE(tags[0].second, tags[1].second);
  EXPECT_NE(tags[1].second, tags[2].second);
  execute_sql("ALTER TABLE step_sample RENAME TO gone");
  for (const auto& [path, tag] : tags) {
    const http::Response response = get(path, {}, {{"if-none-match", "W/\"x\", \"" + tag + "\""}});
    EXPECT_EQ(response.status, 304) << path;
    EXPECT_EQ(response.etag, tag);
    EXPECT_EQ(response.body, nullptr) << path;
  }
  // What was never asked for does read the steps, and they are not there.
  get_detail(path_of(other, "/steps"), {}, 503);
  get_detail(path_of(other, "/statistics"), {{"window", "5-9"}}, 503);
}

TEST_F(RunResource, HasANewTagOnceItGrew) {
  const auto id = add_run("alpha", 1, 20, 7.5);
  const auto other = add_run("beta", 2, 20, 7.5);
  const std::string tag = get(path_of(id, "/steps")).etag;
  const std::string other_tag = get(path_of(other, "/steps")).etag;
  EXPECT_EQ(add_run("alpha", 1, 30, 7.5), id);
  EXPECT_NE(get(path_of(id, "/steps")).etag, tag);
  EXPECT_EQ(get(path_of(other, "/steps")).etag, other_tag) << "its own revision counts";
  EXPECT_EQ(get_json(path_of(id, "/steps"))["iteration"].size(), 31U);
}

TEST_F(RunResource, TellsOfTheJobThatItCameFrom) {
  const storage::RunId id = add_run("alpha", 7, 49, 2.0);
  const std::string path = path_of(id);
  EXPECT_TRUE(get_json(path)["job"].is_null());
  const std::string tag = get(path).etag;
  storage::JobStore jobs(storage_options_);
  storage::JobRecord job = add_job(jobs, "alpha", 7);
  Json json = get_json(path);
  EXPECT_EQ(json["job"]["id"], job.id);
  EXPECT_EQ(json["job"]["state"], "running");
  EXPECT_TRUE(json["job"]["trouble"].is_null());
  EXPECT_TRUE(json["job"]["limit_ends_at"].is_null());
  EXPECT_NE(get(path).etag, tag);
  job.limit_ends_at = "2026-01-01T00:35:00.000000Z";
  ASSERT_TRUE(jobs.update(job));
  EXPECT_EQ(get_json(path)["job"]["limit_ends_at"], *job.limit_ends_at);
  job = *jobs.job(job.id);
  // The same number in another cluster or year.
  storage::JobRecord other = job;
  other.submission_id = "llmb-2";
  other.launch_id = "alpha_1";
  other.cluster = "old";
  jobs.insert(other);
  job.state = storage::JobState::completed;
  job.trouble = "none to speak of";
  job.limit_ends_at.reset();
  ASSERT_TRUE(jobs.update(job));
  json = get_json(path);
  EXPECT_EQ(json["job"], (Json{{"id", job.id},
                               {"state", "completed"},
                               {"trouble", job.trouble},
                               {"limit_ends_at", nullptr}}));
}

TEST_F(RunResource, NamesTheRunThatStandsInItsPlace) {
  auto batch = sample_batch(root_, "rewritten", 1, 10, 7.5);
  const auto first = "/api/v1/runs/" + std::to_string(writer_->commit({&batch, 1}).at(0));
  EXPECT_EQ(get_json(first)["superseded_by"], nullptr);
  const std::string etag = get(first).etag;
  batch.generation = 1;
  const auto second = writer_->commit({&batch, 1}).at(0);
  EXPECT_EQ(get_json(first)["superseded_by"], second);
  EXPECT_NE(get(first).etag, etag);
  EXPECT_EQ(get_json("/api/v1/runs/" + std::to_string(second))["superseded_by"], nullptr);
}

}  // namespace
}  // namespace llmb::api
