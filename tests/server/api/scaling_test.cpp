// /scaling on a real database.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "parser/foundation/instant.h"
#include "server/api/kept_runs.h"
#include "server/report/measured_runs.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Scaling : public ApiTest {
 protected:
  // The global batch is twice the number of GPUs, as in the table of grok1-25.05.
  storage::IngestBatch clean_batch(std::int64_t job_id, std::int64_t gpu_count, double step_time_s,
                                   const std::string& workload = "pretrain_grok1",
                                   bool traced = false) {
    auto batch = sample_batch(root_, "grok_" + std::to_string(gpu_count), job_id, 49, step_time_s);
    batch.facts.nccl_trace_seen = traced;
    batch.facts.nccl = {};
    batch.profiles.reset();
    batch.configuration = {};
    const std::vector<std::pair<std::string, std::string>> values = {
        {"workload", workload},
        {"model_size", "314b"},
        {"dtype", "bf16"},
        {"gpu_type", "gb200"},
        {"gpu_count", std::to_string(gpu_count)},
        {"job_id", std::to_string(job_id)}};
    for (const auto& [key, value] : values) {
      batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
    }
    train_with_batch(batch, 2 * gpu_count);
    return batch;
  }

  template <typename... Values>
  storage::RunId add_clean(const Values&... values) {
    const storage::IngestBatch batch = clean_batch(values...);
    return writer_->commit({&batch, 1}).front();
  }
};

TEST_F(Scaling, AndHistoryTakeLogsWithTheSameBytesForOneRun) {
  const auto add_copy = [&](std::int64_t job, double step_time_s) {
    storage::IngestBatch batch = clean_batch(job, 128, step_time_s);
    batch.cursor.head_hash = 77;
    batch.cursor.tail_hash = static_cast<std::uint64_t>(step_time_s * 10);
    return writer_->commit({&batch, 1}).front();
  };
  const auto first = add_copy(1, 7.2);
  const auto other = add_copy(2, 7.3);
  const auto copy = add_copy(3, 7.2);
  const Json series = get_json("/api/v1/scaling", {})["series"][0];
  const Json& point = series["points"][0];
  EXPECT_EQ(point["tokens_per_s_per_gpu"]["run_count"], 2);
  EXPECT_EQ(point["runs"][0]["id"], first);
  EXPECT_EQ(point["runs"][1]["id"], other);
  ASSERT_EQ(series["left_out"].size(), 1U);
  EXPECT_EQ(series["left_out"][0]["id"], copy);
  EXPECT_EQ(series["left_out"][0]["copy_of"], first);
  EXPECT_EQ(series["left_out_groups"][0]["are_copies"], true);
  const Json history = get_json("/api/v1/history", {})["series"][0];
  EXPECT_EQ(history["runs"].size(), 2U);
  ASSERT_EQ(history["copies"].size(), 1U);
  EXPECT_EQ(history["copies"][0]["id"], copy);
  EXPECT_EQ(history["copies"][0]["copy_of"], first);
}

TEST_F(Scaling, LeavesOutInterruptedStepsWhereThatIsAsked) {
  storage::IngestBatch batch = clean_batch(1, 128, 7.2);
  batch.samples[20].step_time_s = 70.0;
  batch.samples[20].extra_fields = {{"after_checkpoint", 1}};
  batch.summary = parser::summarize_run(batch.samples, batch.facts, {11, 44}, false);
  writer_->commit({&batch, 1});
  const auto speed = [&](Pairs query) {
    query.emplace_back("window", "11-44");
    const Json json = get_json("/api/v1/scaling", query);
    return json["series"][0]["points"][0]["tokens_per_s_per_gpu"]["mean"].get<double>();
  };
  EXPECT_LT(speed({}), 0.9 * 16384 / 7.2);
  EXPECT_NEAR(speed({{"without", "checkpoint"}}), 16384 / 7.2, 1e-9);
  get_detail("/api/v1/scaling", {{"without", "eval"}}, 400);
  get_detail("/api/v1/history", {{"without", "eval"}}, 400);
}

// On 64 H100 grok1-24.11 has eight of the model's layers, and publishes their step time.
TEST_F(Scaling, HoldsProxiesAgainstThePublishedProxyWhereTheyAreAskedFor) {
  storage::IngestBatch batch = clean_batch(1, 64, 20.0);
  batch.facts.dialect = parser::Dialect::nemo_progress_bar;
  batch.configuration = {};
  for (const auto& [key, value] :
       {std::pair{"workload", "pretrain_grok1"}, std::pair{"model_size", "314b"},
        std::pair{"dtype", "bf16"}, std::pair{"gpu_type", "h100"}, std::pair{"gpu_count", "64"}}) {
    batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
  }
  train_with_batch(batch, 1024);
  writer_->commit({&batch, 1});
  const auto series = [&](const Pairs& query) {
    return get_json("/api/v1/scaling", query)["series"][0];
  };
  const Json left_out = series({});
  EXPECT_EQ(left_out["left_out_groups"][0]["marks"], Json::array({"proxy"}));
  EXPECT_EQ(left_out["marks"], Json::array());
  const Json proxies = series({{"include", "proxy"}});
  EXPECT_EQ(proxies["marks"], Json::array({"proxy"}));
  EXPECT_GT(proxies["points"][0]["published_standing"]["speed"], 0);
}

// As what it is: a run that ended early is no repeat of those that did not.
TEST_F(Scaling, MarkedRunsAreASeriesOfTheirOwn) {
  storage::IngestBatch whole = clean_batch(1, 128, 7.2);
  writer_->commit({&whole, 1});
  storage::IngestBatch failed = clean_batch(2, 128, 7.9);
  failed.summary.status = parser::RunStatus::failed;
  writer_->commit({&failed, 1});
  const Json json = get_json("/api/v1/scaling", {{"include", "failed"}});
  ASSERT_EQ(json["series"].size(), 2U);
  EXPECT_EQ(json["series"][0]["marks"], Json::array({"failed"}));
  EXPECT_EQ(json["series"][1]["marks"], Json::array());
  for (const Json& series : json["series"]) {
    EXPECT_EQ(series["points"][0]["runs"].size(), 1U);
  }
}

TEST_F(Scaling, AStandingIsTheSameWhateverWindowIsAskedFor) {
  storage::IngestBatch batch = clean_batch(1, 128, 7.2);
  batch.samples[3].step_time_s = 70.0;
  batch.summary = parser::summarize_run(batch.samples, batch.facts, {11, 44}, false);
  writer_->commit({&batch, 1});
  const auto point = [&](const Pairs& query) {
    return get_json("/api/v1/scaling", query)["series"][0]["points"][0];
  };
  const Json asked = point({{"window", "0-44"}});
  EXPECT_NE(asked["tokens_per_s_per_gpu"], point({})["tokens_per_s_per_gpu"]);
  EXPECT_EQ(asked["published_standing"], point({})["published_standing"]);
  EXPECT_FALSE(asked["published_standing"].is_null());
}

TEST_F(Scaling, AndHistoryAreOfOneClusterWhereThatIsAsked) {
  for (const auto& [job, cluster] : {std::pair(1, "eos"), std::pair(2, "selene")}) {
    storage::IngestBatch batch = clean_batch(job, 128, 7.0 + job);
    batch.configuration.set("cluster", cluster, parser::ConfigSource::llmb_config);
    writer_->commit({&batch, 1});
  }
  const auto scaled = [&](const Pairs& query) {
    std::set<std::int64_t> runs;
    const Json json = get_json("/api/v1/scaling", query);
    for (const Json& series : json["series"]) {
      for (const Json& point : series["points"]) {
        for (const Json& run : point["runs"]) runs.insert(run["id"].get<std::int64_t>());
      }
    }
    return runs;
  };
  const auto in_time = [&](const Pairs& query) {
    std::set<std::int64_t> runs;
    const Json json = get_json("/api/v1/history", query);
    for (const Json& series : json["series"]) {
      for (const Json& run : series["runs"]) runs.insert(run["id"].get<std::int64_t>());
    }
    return runs;
  };
  EXPECT_THAT(scaled({}), ElementsAre(1, 2));
  EXPECT_THAT(scaled({{"cluster", "selene"}}), ElementsAre(2));
  EXPECT_THAT(in_time({}), ElementsAre(1, 2));
  EXPECT_THAT(in_time({{"cluster", "eos"}}), ElementsAre(1));
  EXPECT_THAT(in_time({{"cluster", "none of them"}}), IsEmpty());
  const Json series = get_json("/api/v1/scaling")["series"];
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0]["cluster"], "eos");
  EXPECT_EQ(series[1]["cluster"], "selene");
}

TEST_F(Scaling, AndHistoryTakeTheNewestOfVeryManyRuns) {
  restart_api([](ApiOptions& options) { options.measured_runs_max = 2; });
  // Read last, launched first: the instant of the launch counts.
  const auto newest = add_clean(3, 128, 7.2);
  const auto newer = add_clean(2, 128, 7.3);
  EXPECT_EQ(get_json("/api/v1/scaling", {})["older_runs_left_out"], 0);
  add_clean(1, 128, 7.4);
  const Json scaling = get_json("/api/v1/scaling", {});
  EXPECT_EQ(scaling["older_runs_left_out"], 1);
  const Json& runs = scaling["series"][0]["points"][0]["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["id"], newest);
  EXPECT_EQ(runs[1]["id"], newer);
  const Json history = get_json("/api/v1/history", {});
  EXPECT_EQ(history["older_runs_left_out"], 1);
  EXPECT_EQ(history["series"][0]["runs"].size(), 2U);
}

// So that neither the first question after a start nor those after it read a run.
TEST_F(Scaling, AndHistoryHaveTheirRunsMeasuredAhead) {
  add_clean(1, 128, 7.2);
  add_clean(2, 128, 7.3);
  const Json before = get_json("/api/v1/scaling", {});
  restart_api([](ApiOptions&) {});
  api_->measure_ahead([] { return false; });
  execute_sql("ALTER TABLE run_settings RENAME TO run_settings_elsewhere");
  EXPECT_EQ(get_json("/api/v1/scaling", {}), before);
  EXPECT_EQ(get_json("/api/v1/history", {})["series"][0]["runs"].size(), 2U);
  restart_api([](ApiOptions&) {});
  api_->measure_ahead([] { return true; });
  get_json("/api/v1/scaling", {}, 503);  // reads them
  execute_sql("ALTER TABLE run_settings_elsewhere RENAME TO run_settings");
  EXPECT_EQ(get_json("/api/v1/scaling", {}), before);
}

TEST_F(Scaling, GivesTheSeriesWithThePublishedOne) {
  const auto large = add_clean(1, 512, 8.0);
  const auto small = add_clean(2, 128, 7.2);
  const auto again = add_clean(3, 128, 7.4, "grok1");  // by an alias
  const auto traced = add_clean(4, 256, 9.9, "pretrain_grok1", true);
  const Json json = get_json("/api/v1/scaling", {{"workload", "pretrain_grok1"},
                                                 {"model_size", "314b"},
                                                 {"dtype", "bf16"},
                                                 {"gpu_type", "gb200"}});
  ASSERT_EQ(json["series"].size(), 1U);
  const Json& series = json["series"][0];
  EXPECT_EQ(series["scaling"], "weak");
  ASSERT_EQ(series["points"].size(), 2U);
  EXPECT_EQ(series["points"][0]["tokens_per_s_per_gpu"]["run_count"], 2);
  EXPECT_EQ(series["points"][0]["runs"][0]["id"], small);
  EXPECT_EQ(series["points"][0]["runs"][1]["id"], again);
  EXPECT_EQ(series["points"][1]["runs"][0]["id"], large);
  const double smallest = (16384 / 7.2 + 16384 / 7.4) / 2;
  EXPECT_NEAR(series["points"][1]["efficiency"].get<double>(), 16384 / 8.0 / smallest, 1e-9);
  EXPECT_EQ(series["left_out"][0]["id"], traced);
  EXPECT_THAT(series["left_out"][0]["reason"].get<std::string>(), HasSubstr("NCCL trace"));
  EXPECT_EQ(series["document"], "grok1-25.05");
  ASSERT_EQ(series["published"].size(), 3U);
  EXPECT_EQ(series["published"][2]["reference"]["step_time_s"], 7.324);
  EXPECT_NEAR(series["published"][2]["efficiency"].get<double>(), 7.325 / 7.324, 1e-9);
}

TEST_F(Scaling, NamesAsManyRunsAsAskedAndTellsOfAll) {
  for (int job = 1; job <= 5; ++job) {
    storage::IngestBatch batch = clean_batch(job, 128, 7.0 + 0.1 * job);
    // The first job was launched last.
    batch.path.launched_at = "2026-01-0" + std::to_string(9 - job) + "T00:00:00Z";
    writer_->commit({&batch, 1});
    batch = clean_batch(10 + job, 256, 7.5, "pretrain_grok1", true);
    batch.path.launched_at = "2026-01-0" + std::to_string(job) + "T00:00:00Z";
    writer_->commit({&batch, 1});
  }
  const Json whole = get_json("/api/v1/scaling", {})["series"][0];
  const Json named = get_json("/api/v1/scaling", {{"runs_max", "2"}})["series"][0];
  const auto jobs_of = [](const Json& runs) {
    std::vector<std::int64_t> jobs;
    for (const Json& run : runs) jobs.push_back(run["job_id"].get<std::int64_t>());
    return jobs;
  };
  EXPECT_THAT(jobs_of(whole["points"][0]["runs"]), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(jobs_of(named["points"][0]["runs"]), ElementsAre(1, 2));
  EXPECT_EQ(named["points"][0]["runs"][0]["launched_at"], "2026-01-08T00:00:00Z");
  EXPECT_EQ(named["points"][0]["tokens_per_s_per_gpu"], whole["points"][0]["tokens_per_s_per_gpu"]);
  EXPECT_EQ(named["points"][0]["tokens_per_s_per_gpu"]["run_count"], 5);
  EXPECT_THAT(jobs_of(whole["left_out"]), ElementsAre(11, 12, 13, 14, 15));
  EXPECT_THAT(jobs_of(named["left_out"]), ElementsAre(14, 15));
  const Json groups = Json::parse(
      R"([{"gpu_count": 256, "marks": ["traced"], "are_copies": false, "run_count": 5}])");
  EXPECT_EQ(named["left_out_groups"], groups);
  EXPECT_EQ(whole["left_out_groups"], groups);
  EXPECT_THAT(get_detail("/api/v1/scaling", {{"runs_max", "0"}}, 400), HasSubstr("runs_max"));
}

// What is kept of runs that did not change and what is measured anew together give what another
// Api, which has nothing yet, makes of the same database.
TEST_F(Scaling, IsTheSameWhateverWasAskedBefore) {
  std::vector<storage::RunId> runs;
  for (int job = 1; job <= 6; ++job) runs.push_back(add_clean(job, 128 << (job % 3), 7.0 + job));
  const std::vector<Pairs> questions = {{},
                                        {{"cluster", "eos"}},
                                        {{"include", "all"}},
                                        {{"workload", "grok1"}},
                                        {{"window", "20-40"}},
                                        {{"window", "last"}},
                                        {{"without", "evaluation"}},
                                        {{"window", "20-40"}, {"without", "all"}},
                                        {{"window", "20-40"}, {"cluster", "eos"}},
                                        {{"window", "11-44"}}};
  const auto ask = [&] {
    std::vector<std::string> answers;
    for (const char* const resource : {"/api/v1/scaling", "/api/v1/history"}) {
      for (const Pairs& question : questions) {
        answers.push_back(get_json(resource, question).dump());
      }
    }
    return answers;
  };
  const auto ask_another = [&] {
    auto api = std::move(api_);
    auto router = std::move(router_);
    auto service = std::move(service_);
    restart_api([](ApiOptions&) {});
    const auto answers = ask();
    service_ = std::move(service);
    router_ = std::move(router);
    api_ = std::move(api);
    return answers;
  };
  std::vector<std::function<void()>> changes;
  changes.emplace_back([] {});
  changes.emplace_back([&] {
    auto grown = clean_batch(2, 512, 6.5);
    grown.size_bytes += 100;
    grown.observed_at = "2026-07-07T07:07:07.000000Z";
    writer_->commit({&grown, 1});
  });
  changes.emplace_back([&] {
    auto configuration = storage::Reader(database_path_).run(runs[2])->configuration;
    configuration.set("cluster", "eos", parser::ConfigSource::llmb_config);
    writer_->update_configuration(runs[2], configuration);
  });
  changes.emplace_back([&] { add_clean(7, 128, 9.5, "pretrain_grok1", true); });
  changes.emplace_back([&] {
    auto rewritten = clean_batch(4, 256, 12.5);
    rewritten.generation = 1;
    writer_->commit({&rewritten, 1});
  });
  changes.emplace_back([&] { writer_->upsert_root("/data/w", "selene"); });
  changes.emplace_back([&] {
    storage::RetentionPolicy policy;
    policy.words = "asked for by a test";
    const std::vector<storage::RunId> removed = {runs[4]};
    EXPECT_EQ(
        writer_->remove_logs(policy, removed, *parser::parse_instant("2026-08-08T00:00:00Z")).runs,
        1);
  });
  std::vector<std::string> before;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    const auto kept = ask();
    EXPECT_NE(kept, before) << "change " << i;
    before = kept;
    EXPECT_EQ(ask_another(), kept) << "change " << i;
  }
}

// What repeats teach of the noise stands by their configuration, the cluster's name in it.
TEST_F(Scaling, TakesARunThatNamesNoClusterForARepeatOfThoseThatDo) {
  add_clean(1, 128, 7.2);
  KeptRuns kept;
  const auto configurations = [&] {
    storage::Reader reader(database_path_);
    std::vector<std::uint64_t> all;
    for (const auto& run : kept.read(reader, parser::embedded_catalog(), {}, 100).scaling) {
      all.push_back(run->published.noise.configuration);
    }
    return all;
  };
  const auto add_named = [&](std::int64_t job, const std::string& cluster) {
    auto batch = clean_batch(job, 128, 7.3);
    batch.configuration.set("cluster", cluster, parser::ConfigSource::llmb_config);
    writer_->commit({&batch, 1});
  };
  const auto before = configurations().at(0);
  add_named(2, "eos");
  const auto of_one = configurations();
  EXPECT_NE(of_one.at(0), before);
  EXPECT_EQ(of_one.at(0), of_one.at(1));
  add_named(3, "selene");
  const auto of_two = configurations();
  EXPECT_EQ(of_two.at(0), before) << "which of both is not known";
  EXPECT_EQ(of_two.at(1), of_one.at(1));
}

TEST_F(Scaling, AndHistoryLeaveOutARunWithTooManySteps) {
  const auto run = add_clean(1, 128, 7.2);
  auto batch = clean_batch(2, 128, 7.3);
  batch.facts.segments.front().step_count = 300'000;
  batch.facts.segments.front().last_iteration = 299'999;
  const auto longer = writer_->commit({&batch, 1}).front();
  const std::string reason = "Window 1-1000000 holds more than 200000 steps of this run";
  const Pairs question = {{"window", "1-1000000"}, {"include", "incomplete"}};
  const Json scaling = get_json("/api/v1/scaling", question)["series"][0];
  ASSERT_EQ(scaling["points"].size(), 1U);
  ASSERT_EQ(scaling["points"][0]["runs"].size(), 1U);
  EXPECT_EQ(scaling["points"][0]["runs"][0]["id"], run);
  ASSERT_EQ(scaling["left_out"].size(), 1U);
  EXPECT_EQ(scaling["left_out"][0]["id"], longer);
  EXPECT_THAT(scaling["left_out"].dump(), HasSubstr(reason));
  const Json history = get_json("/api/v1/history", question)["series"];
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0]["runs"].size(), 1U);

  report::RunSource source;
  source.database = database_path_;
  source.window = parser::parse_asked_window("1-1000000").value();
  testing::internal::CaptureStderr();
  const auto measured = report::measure_runs(source, parser::embedded_catalog());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("left out run " + std::to_string(longer) + " ("));
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_EQ(measured->runs.size(), 2U);
  EXPECT_THAT(measured->runs[1].judgement.summary.status_reason, HasSubstr(reason));
}

// Steps that nobody says were changed are not read again; those of a window that was forgotten are.
TEST_F(Scaling, AndHistoryReadARunsStepsOnceForAFewWindows) {
  const storage::RunId run = add_clean(1, 128, 7.2);
  add_clean(2, 256, 7.2);
  const auto speed_in = [&](const std::string& window) {
    // The revision is in the ETag, by which an answer is held.
    writer_->update_configuration(run + 1,
                                  storage::Reader(database_path_).run(run + 1)->configuration);
    get_json("/api/v1/history", {{"window", window}});
    Json json = get_json("/api/v1/scaling", {{"window", window}});
    return json["series"][0]["points"][0]["tokens_per_s_per_gpu"]["mean"];
  };
  const Json before = speed_in("20-40");
  ASSERT_TRUE(before.is_number());
  execute_sql("DELETE FROM step_sample; DELETE FROM step_chunk");
  EXPECT_EQ(speed_in("20-40"), before);
  for (std::size_t i = 0; i < KeptRuns::kWindowsMax; ++i) {
    speed_in("1-" + std::to_string(20 + i));
  }
  EXPECT_NE(speed_in("20-40"), before);
}

TEST_F(Scaling, CountsMarkedRunsWhenAsked) {
  add_clean(1, 128, 7.2);
  add_clean(2, 256, 9.9, "pretrain_grok1", true);
  const Json json = get_json("/api/v1/scaling", {{"include", "traced"}, {"window", "20-40"}});
  // A comparison calls a traced run different: it is a series of its own, which says so.
  ASSERT_EQ(json["series"].size(), 2U);
  EXPECT_EQ(json["series"][0]["differences"],
            Json::parse(R"([{"key": "marks", "value": "traced"}])"));
  EXPECT_TRUE(json["series"][1]["differences"][0]["value"].is_null());
  for (const Json& series : json["series"]) {
    ASSERT_EQ(series["points"].size(), 1U);
    EXPECT_EQ(series["points"][0]["runs"][0]["window"], "20-40");
    EXPECT_TRUE(series["left_out"].empty());
  }
}

TEST_F(Scaling, IsNotReadAgainUntilARunChanges) {
  add_clean(1, 128, 7.2);
  const auto ask = [&](const std::string& held) {
    return get("/api/v1/scaling", {},
               held.empty() ? Pairs{} : Pairs{{"if-none-match", '"' + held + '"'}});
  };
  const std::string etag = ask("").etag;
  EXPECT_EQ(ask(etag).body, nullptr);
  add_clean(2, 256, 7.4);
  EXPECT_NE(ask(etag).body, nullptr);
}

TEST_F(Scaling, AnswersWithoutSeriesAndRefusesWhatItCannotRead) {
  EXPECT_TRUE(get_json("/api/v1/scaling", {{"workload", "nothing"}})["series"].empty());
  EXPECT_THAT(get_detail("/api/v1/scaling", {{"gpus", "8"}}, 400), HasSubstr("gpus"));
  EXPECT_THAT(get_detail("/api/v1/scaling", {{"window", "9-1"}}, 400), HasSubstr("window"));
  EXPECT_THAT(get_detail("/api/v1/scaling", {{"include", "slow"}}, 400), HasSubstr("slow"));
}

}  // namespace
}  // namespace llmb::api
