// /compare on a real database.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

class Compare : public ApiTest {
 protected:
  // Clean runs: no trace and no profile, unlike those of fill().
  storage::IngestBatch clean_batch(const std::string& experiment, std::int64_t job_id,
                                   double step_time_s, const std::string& dtype = "fp8") {
    auto batch = sample_batch(root_, experiment, job_id, 49, step_time_s);
    batch.facts.nccl_trace_seen = false;
    batch.facts.nccl = {};
    batch.profiles.reset();
    batch.configuration = {};
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"workload", "pretrain_grok1"},
                                                          {"model_size", "314b"},
                                                          {"dtype", dtype},
                                                          {"gpu_type", "gb200"},
                                                          {"gpu_count", "256"},
                                                          {"job_id", std::to_string(job_id)}}) {
      batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
    }
    train_with_batch(batch, 512);
    return batch;
  }
  storage::RunId add(const storage::IngestBatch& batch) {
    return writer_->commit({&batch, 1}).front();
  }
  storage::RunId add_clean(const std::string& experiment, std::int64_t job_id, double step_time_s,
                           const std::string& dtype = "fp8") {
    return add(clean_batch(experiment, job_id, step_time_s, dtype));
  }

  Json compare(const std::vector<storage::RunId>& runs, Pairs query = {}) {
    std::string ids;
    for (const storage::RunId run : runs) ids += (ids.empty() ? "" : ",") + std::to_string(run);
    query.emplace_back("runs", ids);
    return get_json("/api/v1/compare", query);
  }
};

TEST_F(Compare, GroupsRepeatsAndTestsThem) {
  const auto a1 = add_clean("a", 1, 7.40);
  const auto b1 = add_clean("b", 2, 5.30, "bf16");
  const auto a2 = add_clean("a", 3, 7.44);
  const auto b2 = add_clean("b", 4, 5.31, "bf16");
  const Json json = compare({a1, b1, a2, b2});
  ASSERT_EQ(json["groups"].size(), 2U);
  EXPECT_EQ(json["groups"][0]["run_ids"], Json({a1, a2}));
  EXPECT_NEAR(json["groups"][0]["metrics"]["step_time_s"]["mean"].get<double>(), 7.42, 1e-9);
  // t(0.95, 1) * 0.0282843 / sqrt(2)
  EXPECT_NEAR(json["groups"][0]["metrics"]["step_time_s"]["high"].get<double>(),
              7.42 + 12.7062047 * 0.02, 1e-6);
  const Json& step = json["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["method"], "moderated_t");
  EXPECT_EQ(step["verdict"], "faster");
  EXPECT_LT(step["p_value"].get<double>(), 0.01);
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_EQ(json["differences"][0]["key"], "dtype");
  EXPECT_THAT(json["method"].get<std::string>(), HasSubstr("Never on iterations"));
  EXPECT_EQ(json["runs"][1]["group"], 1);
}

TEST_F(Compare, TwoRunsAreTwoSides) {
  const auto a = add_clean("a", 1, 7.40);
  const auto b = add_clean("a", 2, 7.60);
  const Json json = compare({a, b});
  ASSERT_EQ(json["groups"].size(), 2U);  // of one configuration
  EXPECT_TRUE(json["differences"].empty());
  const Json& step = json["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["verdict"], "slower");
  EXPECT_NEAR(step["ratio"].get<double>(), 7.6 / 7.4, 1e-9);
  EXPECT_GT(step["ratio_low"].get<double>(), 1);
  EXPECT_NEAR(step["low"].get<double>(), 7.4 * (step["ratio_low"].get<double>() - 1), 1e-9);
  EXPECT_EQ(step["noise"]["source"], "public runs");
  EXPECT_EQ(step["equivalence"]["margin"], 0.01);
  EXPECT_EQ(step["equivalence"]["is_equivalent"], false);
  EXPECT_EQ(step["more_runs_to_decide"], 0);
  EXPECT_EQ(step["start_drift"], nullptr);
}

TEST_F(Compare, TellsTheReleaseOfEachRun) {
  auto newer = clean_batch("a", 2, 7.60);
  newer.configuration.set("release", "25.12", parser::ConfigSource::llmb_config);
  const Json json = compare({add_clean("a", 1, 7.40), add(newer)});
  EXPECT_EQ(json["runs"][0]["release"], nullptr);
  EXPECT_EQ(json["runs"][1]["release"], "25.12");
}

TEST_F(Compare, SidesCanBeNamed) {
  const auto a1 = add_clean("a", 1, 7.40);
  const auto a2 = add_clean("a", 2, 7.41);
  const auto a3 = add_clean("a", 3, 7.60);
  const auto list = [](std::initializer_list<storage::RunId> ids) {
    std::string text;
    for (const auto id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    return text;
  };
  const Json json =
      get_json("/api/v1/compare", {{"base", list({a1, a3})}, {"candidate", list({a2})}});
  ASSERT_EQ(json["groups"].size(), 2U);
  EXPECT_EQ(json["groups"][0]["name"], "base");
  EXPECT_EQ(json["groups"][0]["run_ids"], Json({a1, a3}));
  EXPECT_EQ(json["groups"][1]["name"], "candidate");
  const std::string path = "/api/v1/compare";
  EXPECT_THAT(get_detail(path, {{"base", "1"}}, 400), HasSubstr("both 'base' and 'candidate'"));
  EXPECT_THAT(get_detail(path, {{"base", "1,2"}, {"candidate", "2"}}, 400),
              HasSubstr("Run 2 is on two sides"));
}

TEST_F(Compare, SeveralSidesStandAgainstTheFirst) {
  const auto a1 = add_clean("a", 1, 7.40);
  const auto a2 = add_clean("a", 2, 7.41);
  const auto b1 = add_clean("a", 3, 7.60);
  const auto b2 = add_clean("a", 4, 7.61);
  const auto c = add_clean("a", 5, 7.405);
  const std::string path = "/api/v1/compare";
  const Json json = get_json(path, {{"base", fmt::format("{},{}", a1, a2)},
                                    {"candidate", fmt::format("{};{},{}", c, b1, b2)}});
  ASSERT_EQ(json["groups"].size(), 3U);
  EXPECT_EQ(json["groups"][0]["name"], "base");
  EXPECT_EQ(json["groups"][1]["name"], "candidate 1");
  EXPECT_EQ(json["groups"][1]["run_ids"], Json({c}));
  EXPECT_EQ(json["groups"][2]["name"], "candidate 2");
  EXPECT_EQ(json["groups"][2]["run_ids"], Json({b1, b2}));
  ASSERT_EQ(json["comparisons"].size(), 2U);
  for (const Json& entry : json["comparisons"]) EXPECT_EQ(entry["baseline"], 0);
  const auto step = [&](std::size_t at) {
    return json["comparisons"][at]["metrics"]["step_time_s"];
  };
  EXPECT_EQ(step(0)["verdict"], "no_difference_shown");
  EXPECT_GT(step(0)["smallest_visible_difference"].get<double>(), 0);
  EXPECT_EQ(step(1)["verdict"], "slower");
  EXPECT_NEAR(step(1)["ratio"].get<double>(), 7.605 / 7.405, 1e-6);  // of logarithms
  EXPECT_GT(step(1)["ratio_low"].get<double>(), 1);
  // As openapi.json has it: two runs against one, and two against two.
  for (const std::size_t at : {0U, 1U}) {
    const Json test = step(at);
    const double runs_inverse = 0.5 + (at == 0 ? 1.0 : 0.5);
    EXPECT_NEAR(test["t"].get<double>(),
                std::log(test["ratio"].get<double>()) /
                    (test["stddev"].get<double>() * std::sqrt(runs_inverse)),
                1e-9 * std::abs(test["t"].get<double>()));
  }
  const auto refusal = [&](const std::string& candidate) {
    return get_detail(path, {{"base", "1"}, {"candidate", candidate}}, 400);
  };
  EXPECT_THAT(refusal("2;3,2"), HasSubstr("Run 2 is on two sides"));
  EXPECT_THAT(refusal("2;"), HasSubstr("'candidate' is ''"));
  EXPECT_THAT(refusal("2;3;4;5;6;7;8;9"), HasSubstr("More than 8 runs"));
}

// The noise between runs is that of the database's own, once it holds enough of them.
TEST_F(Compare, LearnsTheNoiseFromTheDatabase) {
  std::int64_t job = 100;
  for (const char* const dtype : {"x1", "x2", "x3", "x4"}) {
    for (const double step_time_s : {7.2, 7.4, 7.6}) add_clean("other", ++job, step_time_s, dtype);
  }
  const auto a = add_clean("a", 1, 7.40);
  const auto b = add_clean("a", 2, 7.60);
  const Json step = compare({a, b})["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["noise"]["source"], "runs of the same workload, GPU and scale");
  EXPECT_EQ(step["noise"]["run_count"], 12);
  EXPECT_EQ(step["verdict"], "no_difference_shown");
  EXPECT_GT(step["more_runs_to_decide"].get<int>(), 0);
}

TEST_F(Compare, LearnsNoNoiseFromCopiesOfOneLog) {
  std::int64_t job = 100;
  for (const char* const dtype : {"x1", "x2", "x3", "x4"}) {
    auto batch = clean_batch("other", ++job, 7.40, dtype);
    batch.cursor.head_hash = static_cast<std::uint64_t>(job);
    for (const char* const root : {"/data/w", "/data/copy", "/data/second_copy"}) {
      batch.root_id = writer_->upsert_root(root, "");
      add(batch);
    }
  }
  const auto a = add_clean("a", 1, 7.400);
  const auto b = add_clean("a", 2, 7.402);
  const Json step = compare({a, b})["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["noise"]["source"], "public runs");
  EXPECT_NE(step["verdict"], "slower");
}

TEST_F(Compare, LearnsTheNoiseFromRunsThatCallTheWorkloadOtherwise) {
  const auto named = [&](const std::string& workload, std::int64_t job_id, double step_time_s,
                         const std::string& dtype) {
    auto batch = clean_batch("other", job_id, step_time_s, dtype);
    batch.configuration.set("workload", workload, parser::ConfigSource::llmb_config);
    return add(batch);
  };
  std::int64_t job = 100;
  for (const char* const dtype : {"x1", "x2", "x3", "x4"}) {
    const char* const workload = job < 106 ? "pretrain_grok1" : "pretraining_grok1";
    for (const double step_time_s : {7.2, 7.4, 7.6}) named(workload, ++job, step_time_s, dtype);
  }
  const auto a = named("grok1", 1, 7.40, "fp8");
  const auto b = named("grok1", 2, 7.60, "fp8");
  const Json step = compare({a, b})["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["noise"]["source"], "runs of the same workload, GPU and scale");
  EXPECT_EQ(step["noise"]["run_count"], 12);
}

// Of the only cluster that its tree names is a run that names none.
TEST_F(Compare, LearnsTheNoiseFromRepeatsThatNameNoCluster) {
  std::vector<storage::RunId> unnamed;
  for (int job = 1; job <= 10; ++job) unnamed.push_back(add_clean("a", job, 7.40 + 0.01 * job));
  auto newer = clean_batch("a", 11, 7.45);
  newer.configuration.set("cluster", "eos", parser::ConfigSource::llmb_config);
  const auto named = add(newer);
  const Json step = compare({unnamed.front(), named})["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["noise"]["repeat_count"], 9);
}

// On 64 H100 the document has eight of the model's layers; nothing else says that it is a proxy.
TEST_F(Compare, LearnsNoNoiseFromProxiesThatTheirRecipeTells) {
  std::int64_t job = 100;
  storage::RunId proxy = 0;
  for (const char* const version : {"1", "2", "3", "4"}) {
    for (const double step_time_s : {7.2, 7.4, 7.6}) {
      auto batch = clean_batch("other", ++job, step_time_s);
      batch.facts.dialect = parser::Dialect::nemo_progress_bar;
      batch.configuration = {};
      for (const auto& [key, value] :
           {std::pair{"workload", "pretrain_grok1"}, std::pair{"model_size", "314b"},
            std::pair{"dtype", "fp8"}, std::pair{"gpu_type", "h100"}, std::pair{"gpu_count", "64"},
            std::pair{"framework_version", version}}) {
        batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
      }
      train_with_batch(batch, 1024);
      proxy = add(batch);
    }
  }
  EXPECT_EQ(compare({proxy})["runs"][0]["marks"][0]["mark"], "proxy");
  const auto a = add_clean("a", 1, 7.40);
  const auto b = add_clean("a", 2, 7.60);
  const Json step = compare({a, b})["comparisons"][0]["metrics"]["step_time_s"];
  EXPECT_EQ(step["noise"]["source"], "public runs");
}

TEST_F(Compare, SetsOneRunAgainstItsPublishedResult) {
  const Json json = compare({add_clean("a", 1, 7.40, "bf16")});
  EXPECT_TRUE(json["comparisons"].empty());
  const Json& published = json["runs"][0]["published"];
  EXPECT_EQ(published["reference"]["step_time_s"], 7.39);
  EXPECT_EQ(published["window_source"], "grok1-25.05");
  EXPECT_NEAR(published["speed_against_reference"].get<double>(), 7.39 / 7.40, 1e-9);
  const Json& standing = json["groups"][0]["published_standing"];
  EXPECT_EQ(standing["verdict"], "not_decided");
  EXPECT_LT(standing["speed_low"].get<double>(), 7.39 / 7.40);
  EXPECT_NEAR(standing["line"].get<double>(), 7.39 / 7.395, 1e-9);
}

TEST_F(Compare, LeavesMarkedRunsOutUnlessAsked) {
  fill();  // run 1 is traced and profiled, run 3 failed
  const auto clean = add_clean("a", 9, 7.40);
  const Json json = compare({1, clean, 3});
  EXPECT_EQ(json["groups"].size(), 1U);
  EXPECT_EQ(json["runs"][0]["marks"][0]["mark"], "profiled");
  EXPECT_EQ(json["runs"][0]["marks"][1]["mark"], "traced");
  EXPECT_THAT(json["runs"][0]["exclusion"].get<std::string>(), HasSubstr("NCCL trace"));
  EXPECT_EQ(json["runs"][1]["group"], 0);
  const Json all = compare({1, clean, 3}, {{"include", "profiled,traced"}});
  EXPECT_EQ(all["groups"].size(), 2U);
  EXPECT_EQ(all["runs"][2]["group"], nullptr);
  EXPECT_EQ(all["comparisons"][0]["obstacles"][0]["code"], "different_model_size");
}

TEST_F(Compare, ABaseOfWhichNoRunCountsIsTold) {
  fill();  // run 3 failed
  const auto a = add_clean("a", 8, 7.40);
  const auto b = add_clean("a", 9, 7.50);
  const Json json =
      get_json("/api/v1/compare", {{"base", "3"}, {"candidate", fmt::format("{};{}", a, b)}});
  EXPECT_EQ(json["groups"].size(), 2U);
  EXPECT_TRUE(json["comparisons"].empty());
  ASSERT_EQ(json["missing_sides"].size(), 1U);
  const Json& missing = json["missing_sides"][0];
  EXPECT_EQ(missing["name"], "base");
  EXPECT_EQ(missing["is_baseline"], true);
  EXPECT_EQ(missing["run_ids"], Json({3}));
  EXPECT_THAT(missing["reason"].get<std::string>(), HasSubstr("No run of base counts: run 3: "));
  EXPECT_TRUE(compare({a, b})["missing_sides"].empty());
}

TEST_F(Compare, TakesAWindowForAll) {
  const auto a = add_clean("a", 1, 7.40);
  const Json asked = compare({a}, {{"window", "20-40"}});
  EXPECT_EQ(asked["runs"][0]["window"], "20-40");
  EXPECT_EQ(asked["runs"][0]["published"]["window"], "11-44") << "its own, whatever is asked for";
  EXPECT_EQ(asked["groups"][0]["published_standing"],
            compare({a})["groups"][0]["published_standing"]);
  const Json none = compare({a}, {{"window", "90-99"}, {"include", "all"}});
  EXPECT_THAT(none["runs"][0]["exclusion"].get<std::string>(), HasSubstr("90-99"));
}

TEST_F(Compare, IsNotReadAgainUntilARunChanges) {
  const auto a = add_clean("a", 1, 7.40);
  const auto ask = [&](const std::string& held) {
    return get("/api/v1/compare", {{"runs", std::to_string(a)}},
               held.empty() ? Pairs{} : Pairs{{"if-none-match", '"' + held + '"'}});
  };
  const std::string etag = ask("").etag;
  EXPECT_EQ(ask(etag).body, nullptr);
  add_clean("a", 1, 7.50);
  EXPECT_NE(ask(etag).body, nullptr);
}

TEST_F(Compare, RefusesWhatItCannotRead) {
  const std::string path = "/api/v1/compare";
  add_clean("a", 1, 7.40);
  EXPECT_THAT(get_detail(path, {}, 400), HasSubstr("runs=3,7,8"));
  EXPECT_THAT(get_detail(path, {{"runs", "1,x"}}, 400), HasSubstr("whole numbers from 1"));
  EXPECT_THAT(get_detail(path, {{"runs", "1,"}}, 400), HasSubstr("whole numbers from 1"));
  EXPECT_THAT(get_detail(path, {{"runs", "1,1"}}, 400), HasSubstr("more than once"));
  EXPECT_THAT(get_detail(path, {{"runs", "1,2,3,4,5,6,7,8,9"}}, 400), HasSubstr("More than 8"));
  EXPECT_THAT(get_detail(path, {{"runs", "1,99"}}, 404), HasSubstr("no run with the id 99"));
  EXPECT_THAT(get_detail(path, {{"runs", "1"}, {"include", "slow"}}, 400),
              HasSubstr("Parameter 'include': 'slow'"));
}

}  // namespace
}  // namespace llmb::api
