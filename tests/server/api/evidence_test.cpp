// runs/{id}/nccl, /ranks, /checkpoints, /insight, and what runs/{id} says of failures and profiles.
#include <chrono>

#include "parser/foundation/instant.h"
#include "server/report/evidence_json.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

class Evidence : public ApiTest {
 protected:
  std::string path(storage::RunId run, const std::string& rest) {
    return "/api/v1/runs/" + std::to_string(run) + rest;
  }
};

TEST_F(Evidence, OfTheCollectivesComesLargestFirst) {
  const Json json = get_json(path(add_run("a", 1, 49, 2.0), "/nccl"));
  EXPECT_EQ(json["calls"], 103);
  EXPECT_EQ(json["bytes"], 100 * 2048 + 64);
  EXPECT_EQ(json["torn_lines"], 3);
  ASSERT_EQ(json["operations"].size(), 2U);
  const Json& first = json["operations"][0];
  EXPECT_EQ(first["operation"], "AllReduce");
  EXPECT_EQ(first["datatype"], "bfloat16");
  EXPECT_EQ(first["bytes_per_call"], 2048);
  const Json& second = json["operations"][1];
  EXPECT_EQ(second["bytes"], nullptr);
  EXPECT_EQ(second["rank_count"], nullptr);
  EXPECT_EQ(second["communicators_are_complete"], false);
}

TEST_F(Evidence, OfTheCollectivesCountsNoMoreBytesThanFit) {
  parser::NcclTrace trace;
  const std::int64_t elements = std::int64_t{1} << 40;
  trace.uses = {{"AllReduce", 7, elements, 8, std::int64_t{1} << 30, 8, true},
                {"Broadcast", 7, elements, 8, 2, 8, true}};
  trace.other_bytes = INT64_MAX - 1;
  const Json json = report::nccl_json(trace);
  EXPECT_EQ(json["bytes"], INT64_MAX);
  EXPECT_EQ(json["operations"][0]["operation"], "AllReduce") << "largest first";
  EXPECT_EQ(json["operations"][0]["bytes"], INT64_MAX);
  EXPECT_EQ(json["operations"][1]["bytes"], 2 * 4 * elements);
}

TEST_F(Evidence, OfRanksSaysHowOftenAndHowMuch) {
  const auto run = add_run("a", 1, 49, 2.0);
  EXPECT_EQ(get_json(path(run, ""))["rank_measure_count"], 2);
  const Json json = get_json(path(run, "/ranks"));
  EXPECT_EQ(json["run_id"], run);
  EXPECT_EQ(json["values_left_out"], 5);
  ASSERT_EQ(json["measures"].size(), 2U);
  EXPECT_EQ(json["measures"][0], Json::parse(R"({"source": "straggler_detector",
      "quantity": "round_trip_time", "unit": "s", "place": "highest", "rank": 7, "node": null,
      "is_of_other_ranks": false, "count": 4, "value_mean": 2.5, "value_min": 2.0,
      "value_max": 3.0, "offset": 6000})"));
  const Json& flagged = json["measures"][1];
  EXPECT_EQ(flagged["place"], "flagged");
  EXPECT_EQ(flagged["node"], "node-1");
  EXPECT_EQ(flagged["value_mean"], nullptr);
}

TEST_F(Evidence, OfCheckpointsHasTheirDurations) {
  const Json json = get_json(path(add_run("a", 1, 49, 2.0), "/checkpoints"));
  EXPECT_EQ(json["checkpoint_count"], 1);
  EXPECT_EQ(json["checkpoints"][0]["kind"], "save");
  EXPECT_EQ(json["checkpoints"][0]["duration_s"], 4.389);
}

TEST_F(Evidence, OfTheStepsNamesWarmUpPeriodAndOutliers) {
  const auto run = add_run("varied", 1, 49, 2.0);
  const Json json = get_json(path(run, "/insight"));
  EXPECT_EQ(json["reason"], nullptr);
  EXPECT_EQ(json["steady_step_time_s"], 2.0);
  EXPECT_EQ(json["warm_up_last_iteration"], 0);
  EXPECT_EQ(json["periodic"]["period"], 5);
  EXPECT_EQ(json["periodic"]["ratio"], 1.5);
  ASSERT_EQ(json["outliers"].size(), 1U);
  EXPECT_EQ(json["outliers"][0]["iteration"], 33);
  EXPECT_EQ(json["memory_bytes_max"], 7e10);
  const Json part = get_json(path(run, "/insight"), {{"window", "1-4"}});
  EXPECT_EQ(part["timed_step_count"], 4);
  EXPECT_EQ(part["steady_step_time_s"], nullptr);
  EXPECT_NE(part["reason"], nullptr);
}

TEST_F(Evidence, OfAFailureIsQuotedWithAdvice) {
  const Json failed = get_json(path(add_run("a", 1, 20, 2.0), ""));
  EXPECT_EQ(failed["failure_cause"], "time_limit");
  EXPECT_EQ(failed["failure"]["cause"], "time_limit");
  EXPECT_EQ(failed["failure"]["offset"], 9000);
  EXPECT_EQ(failed["failure"]["data_is_valid"], false);
  EXPECT_FALSE(failed["failure"]["advice"].get<std::string>().empty());
  const Json complete = get_json(path(add_run("b", 2, 49, 2.0), ""));
  EXPECT_EQ(complete["failure_cause"], nullptr);
  EXPECT_EQ(complete["failure"], nullptr);
}

TEST_F(Evidence, OfAHungRunIsHowLongItWasSilent) {
  auto batch = sample_batch(root_, "a", 1, 49, 2.0);
  batch.observed_at = parser::instant_text(std::chrono::system_clock::now());
  const auto run = writer_->commit({&batch, 1}).front();
  EXPECT_EQ(get_json(path(run, ""))["silent_s"], nullptr);
  batch.samples.clear();
  batch.summary.status = parser::RunStatus::running;
  batch.summary.failure_cause = "hung";
  batch.summary.silent_s = 151.5;
  batch.summary.status_reason = "silent for 151 s";
  writer_->commit({&batch, 1});
  const Json hung = get_json(path(run, ""));
  EXPECT_EQ(hung["status"], "running");
  EXPECT_EQ(hung["failure_cause"], "hung");
  EXPECT_EQ(hung["silent_s"], 151.5);
  EXPECT_EQ(hung["failure"]["cause"], "hung");
  EXPECT_EQ(hung["failure"]["line"], nullptr);
  auto old = sample_batch(root_, "b", 2, 49, 2.0);
  old.summary = batch.summary;
  writer_->commit({&old, 1});
  const std::string metrics = *get("/metrics").body;
  EXPECT_NE(metrics.find("\nllmb_runs_hung 1\n"), std::string::npos) << "not those of long ago";
  EXPECT_EQ(metrics.find("\nllmb_runs_longest_silence_seconds 0\n"), std::string::npos);
}

TEST_F(Evidence, OfAHungRunTellsTheSilenceOverAnyWindow) {
  auto batch = sample_batch(root_, "a", 1, 30, 2.0);
  batch.facts.events.clear();
  const parser::Window window{11, 44};
  batch.summary = parser::summarize_run(batch.samples, batch.facts, window, true);
  const auto run = writer_->commit({&batch, 1}).front();
  EXPECT_EQ(get_json(path(run, "/statistics"))["silent_s"], nullptr);
  batch.summary =
      parser::summarize_run(batch.samples, batch.facts, window, true, parser::Silence{151.5, 2.0});
  batch.samples.clear();
  writer_->commit({&batch, 1});
  for (const char* asked : {"11-44", "20-40"}) {
    const Json statistics = get_json(path(run, "/statistics"), {{"window", asked}});
    EXPECT_EQ(statistics["window"], asked);
    EXPECT_EQ(statistics["status"], "running");
    EXPECT_EQ(statistics["failure_cause"], "hung");
    EXPECT_EQ(statistics["silent_s"], 151.5);
    const auto reason = statistics["status_reason"].get<std::string>();
    EXPECT_NE(reason.find("silent for over 151 s, 75 step times"), std::string::npos) << reason;
  }
}

TEST_F(Evidence, OfAProfilerMarksTheRun) {
  const Json run = get_json(path(add_run("a", 1, 49, 2.0), ""));
  EXPECT_EQ(run["is_profiled"], true);
  EXPECT_EQ(run["is_traced"], true);
  ASSERT_EQ(run["profiles"].size(), 1U);
  EXPECT_EQ(run["profiles"][0]["node"], 1);
  EXPECT_EQ(run["profiles"][0]["local_rank"], 7);
}

// A run that names its trace and prints none: one word says so everywhere.
TEST_F(Evidence, OfATraceIsWhatTheNameSaysToo) {
  storage::IngestBatch batch = sample_batch(root_, "a", 1, 49, 2.0);
  batch.facts.nccl_trace_seen = false;
  batch.facts.nccl = {};
  const auto is_traced = [&] {
    const auto run = writer_->commit({&batch, 1}).front();
    const bool is_so = get_json(path(run, ""))["is_traced"];
    EXPECT_EQ(get_json(path(run, "/nccl"))["is_traced"], is_so);
    return is_so;
  };
  EXPECT_FALSE(is_traced());
  batch.configuration.set("nccl_trace_enabled", "true", parser::ConfigSource::path);
  EXPECT_TRUE(is_traced());
}

TEST_F(Evidence, OfNoRunIsNotFound) {
  for (const char* rest : {"/nccl", "/ranks", "/checkpoints", "/insight"}) {
    get_detail(path(99, rest), {}, 404);
  }
}

}  // namespace
}  // namespace llmb::api
