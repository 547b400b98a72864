// GET /api/v1/runs: filters, order, pages, tags.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"
#include "server/ingest/listed_result.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using RunList = ApiTest;

std::vector<std::int64_t> ids(const Json& list) {
  std::vector<std::int64_t> result;
  for (const Json& run : list["runs"]) result.push_back(run["id"].get<std::int64_t>());
  return result;
}

TEST_F(RunList, ShowsWhatIsStored) {
  const auto id = add_run("alpha", 1, 49, 7.5);
  const Json list = get_json("/api/v1/runs");
  ASSERT_EQ(list["runs"].size(), 1U);
  EXPECT_EQ(list["total"], 1);
  EXPECT_TRUE(list["next_cursor"].is_null());
  const Json& run = list["runs"][0];
  EXPECT_EQ(run["id"], id);
  EXPECT_EQ(run["root"], "/data/w");
  EXPECT_EQ(run["experiment"], "alpha");
  EXPECT_EQ(run["launched_at"], "2025-12-22T15:00:01Z");
  EXPECT_EQ(run["status"], "complete");
  EXPECT_EQ(run["window"], "11-44");
  EXPECT_EQ(run["dtype"], "fp8_cs");
  EXPECT_EQ(run["gpu_count"], 128);
  EXPECT_EQ(run["cluster"], "eos");
  EXPECT_EQ(run["step_time_s_count"], 34);
  EXPECT_EQ(run["step_time_s_mean"], 7.5);
  EXPECT_EQ(run["step_time_source"], "printed");
  EXPECT_EQ(run["tflops_per_gpu_min"], 411.0);
  EXPECT_EQ(run["step_count"], 50);
}

TEST_F(RunList, GivesNullForWhatIsUnknown) {
  auto batch = sample_batch(root_, "empty", 1, -1, 0);
  batch.configuration = {};
  batch.path.launched_at.reset();
  batch.path.account.reset();
  writer_->commit({&batch, 1});
  const Json list = get_json("/api/v1/runs");
  const Json& run = list["runs"][0];
  for (const char* key : {"launched_at", "account", "workload", "gpu_count", "cluster",
                          "step_time_s_mean", "tflops_per_gpu_p95", "last_iteration"}) {
    EXPECT_TRUE(run[key].is_null()) << key;
  }
  EXPECT_EQ(run["step_time_s_count"], 0);
  EXPECT_EQ(run["status"], "failed");
}

TEST_F(RunList, PagesThroughAllRunsOnceInEitherDirection) {
  fill();
  for (const char* sort : {"launched_at", "-launched_at", "step_time_s_mean", "-step_time_s_mean",
                           "-experiment", "status", "-gpu_count", "id"}) {
    std::vector<std::int64_t> seen;
    std::string cursor;
    for (int page = 0; page < 10; ++page) {
      Pairs query = {{"sort", sort}, {"limit", "2"}};
      if (!cursor.empty()) query.emplace_back("cursor", cursor);
      const Json list = get_json("/api/v1/runs", query);
      EXPECT_EQ(list["total"], 5) << sort;
      for (const std::int64_t id : ids(list)) seen.push_back(id);
      if (list["next_cursor"].is_null()) break;
      cursor = list["next_cursor"].get<std::string>();
    }
    EXPECT_EQ(seen.size(), 5U) << sort;
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 5U) << sort;
    EXPECT_EQ(seen, ids(get_json("/api/v1/runs", {{"sort", sort}}))) << sort;
  }
}

TEST_F(RunList, LinksToTheNextPageWithTheSameQuestion) {
  fill();
  const http::Response response =
      get("/api/v1/runs", {{"limit", "2"}, {"experiment", "alpha"}, {"q", "a b&c"}});
  EXPECT_EQ(header_of(response, "Link"), "");
  const http::Response first = get("/api/v1/runs", {{"limit", "1"}, {"experiment", "alpha"}});
  const std::string cursor = Json::parse(*first.body)["next_cursor"].get<std::string>();
  EXPECT_EQ(header_of(first, "Link"),
            "</api/v1/runs?experiment=alpha&limit=1&cursor=" + cursor + ">; rel=\"next\"");
  // From the cache as well.
  const http::Response again = get("/api/v1/runs", {{"limit", "1"}, {"experiment", "alpha"}});
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(header_of(again, "Link"), header_of(first, "Link"));
}

TEST_F(RunList, Filters) {
  fill();
  const auto count = [&](const Pairs& query) { return get_json("/api/v1/runs", query)["total"]; };
  EXPECT_EQ(count({{"experiment", "alpha"}}), 2);
  EXPECT_EQ(count({{"status", "complete"}}), 3);
  EXPECT_EQ(count({{"job_id", "3"}}), 1);
  EXPECT_EQ(count({{"gpu_count", "128"}}), 5);
  EXPECT_EQ(count({{"gpu_count", "64"}}), 0);
  EXPECT_EQ(count({{"q", "bet"}}), 2);
  EXPECT_EQ(count({{"since", "2025-12-22T15:00:04Z"}}), 2);
  EXPECT_EQ(count({{"since", "2025-12-22T16:00:04+01:00"}}), 2);
  EXPECT_EQ(count({{"workload", "pretrain_grok1"},
                   {"dtype", "fp8_cs"},
                   {"gpu_type", "h100"},
                   {"release", "25.07"},
                   {"cluster", "eos"}}),
            5);
  EXPECT_EQ(count({{"root_id", "99"}}), 0);
}

TEST_F(RunList, OfAClusterHasTheRunsWhoseTreeNamesNoOther) {
  const std::string experiment =
      "pretrain_grok1_314b_bf16_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256";
  const auto add = [&](storage::RootId root, std::int64_t job, const std::string& cluster) {
    auto batch = sample_batch(root, experiment, job, 49, 7.5);
    batch.configuration = parser::parse_experiment_name(experiment);
    batch.configuration.set("gpu_type", "gb200", parser::ConfigSource::llmb_config);
    batch.configuration.set("cluster", cluster, parser::ConfigSource::llmb_config);
    writer_->commit({&batch, 1});
  };
  add(root_, 1, "eos");
  add(root_, 2, "");
  add(writer_->upsert_root("/elsewhere", ""), 3, "");
  const auto count = [&](const std::string& of) {
    const Json scaling = get_json("/api/v1/scaling", {{"cluster", of}});
    EXPECT_EQ(scaling["series"].size(), of == "ord" ? 0U : 1U) << of;
    return get_json("/api/v1/runs", {{"cluster", of}})["total"];
  };
  EXPECT_EQ(count("eos"), 2);
  EXPECT_EQ(count("none"), 1);
  EXPECT_EQ(count("ord"), 0);
  EXPECT_EQ(get_json("/api/v1/runs", {{"cluster", "eos"}, {"cluster", "none"}})["total"], 3);
  const Json compared = get_json("/api/v1/compare", {{"runs", "1,2,3"}});
  EXPECT_EQ(compared["runs"][1]["cluster"], "eos");
  EXPECT_EQ(compared["runs"][2]["cluster"], nullptr);
}

TEST_F(RunList, FindsAWorkloadByAnyOfItsNames) {
  auto alias = sample_batch(root_, "older", 9, 49, 7.0);
  alias.configuration.set("workload", "grok1", parser::ConfigSource::llmb_config);
  const auto named = sample_batch(root_, "newer", 10, 49, 7.0);
  writer_->commit(std::vector{alias, named});
  for (const char* name : {"grok1", "pretrain_grok1"}) {
    EXPECT_EQ(get_json("/api/v1/runs", {{"workload", name}})["total"], 2) << name;
  }
  EXPECT_EQ(get_json("/api/v1/runs", {{"workload", "nemotron4"}})["total"], 0);
  EXPECT_EQ(get_json("/api/v1/runs", {{"workload", "my_own"}})["total"], 0);
}

// As a log of results/24.11/bf16/314b/512 has it: neither workload nor GPU type.
TEST_F(RunList, FiltersAndShowsByTheRecipeThatARunMatches) {
  auto batch = sample_batch(root_, "", 9, 49, 14.0);  // at 7 s its MFU would be over 1
  batch.configuration = {};
  for (const auto& [key, value] : {std::pair{"model_size", "314b"}, std::pair{"dtype", "bf16"},
                                   std::pair{"gpu_count", "512"}}) {
    batch.configuration.set(key, value, parser::ConfigSource::path);
  }
  batch.facts = {};
  batch.facts.dialect = parser::Dialect::nemo_progress_bar;
  batch.profiles.reset();
  batch.logged_global_batch_size = 1024;
  storage::RunRecord judged;
  judged.configuration = batch.configuration;
  judged.facts = batch.facts;
  judged.summary = batch.summary;
  judged.logged_global_batch_size = batch.logged_global_batch_size;
  batch.listed = ingest::listed_result(parser::embedded_catalog(), judged);
  writer_->commit({&batch, 1});
  for (const Pairs& query :
       {Pairs{{"workload", "pretrain_grok1"}}, Pairs{{"workload", "grok1"}},
        Pairs{{"gpu_type", "h100"}}, Pairs{{"dtype", "bf16"}, {"gpu_count", "512"}}}) {
    const Json runs = get_json("/api/v1/runs", query)["runs"];
    ASSERT_EQ(runs.size(), 1U) << query.front().first;
    EXPECT_EQ(runs[0]["workload"], "pretrain_grok1");
    EXPECT_EQ(runs[0]["gpu_type"], "h100");
  }
  EXPECT_EQ(get_json("/api/v1/runs", {{"gpu_type", "gb200"}})["total"], 0);
  for (const Pairs& query : {Pairs{}, Pairs{{"workload", "grok1"}}, Pairs{{"gpu_type", "h100"}}}) {
    const Json history = get_json("/api/v1/history", query);
    ASSERT_EQ(history["series"].size(), 1U);
    EXPECT_EQ(history["series"][0]["gpu_type"], "h100");
    EXPECT_EQ(get_json("/api/v1/scaling", query)["series"].size(), 1U);
  }
  EXPECT_THAT(*get("/metrics").body,
              testing::HasSubstr("workload=\"pretrain_grok1\",model_size=\"314b\",dtype=\"bf16\","
                                 "gpu_type=\"h100\""));
}

TEST_F(RunList, ACoarseDtypeStandsForTheFineOnes) {
  fill();  // fp8_cs
  const auto count = [&](const char* dtype) {
    return get_json("/api/v1/runs", {{"dtype", dtype}})["total"];
  };
  EXPECT_EQ(count("fp8"), 5);
  EXPECT_EQ(count("fp8_cs"), 5);
  EXPECT_EQ(count("fp8_mx"), 0);
  EXPECT_EQ(count("bf16"), 0);
  const auto series = [&](const char* resource, const char* dtype) {
    return get_json(resource, {{"dtype", dtype}, {"include", "all"}})["series"].size();
  };
  for (const char* const resource : {"/api/v1/history", "/api/v1/scaling"}) {
    EXPECT_GT(series(resource, "fp8"), 0U) << resource;
    EXPECT_EQ(series(resource, "fp8"), series(resource, "fp8_cs")) << resource;
    EXPECT_EQ(series(resource, "fp8_mx"), 0U) << resource;
  }
}

TEST_F(RunList, IsFilteredInAnyCase) {
  fill();
  const auto count = [&](const char* name, const char* value) {
    return get_json("/api/v1/runs", {{name, value}})["total"];
  };
  EXPECT_EQ(count("gpu_type", "H100"), 5);
  EXPECT_EQ(count("dtype", "FP8"), 5);
  EXPECT_EQ(count("dtype", "FP8_CS"), 5);
  EXPECT_EQ(count("model_size", "70B"), 5);
  EXPECT_EQ(count("gpu_type", "H200"), 0);
  for (const char* const resource : {"/api/v1/history", "/api/v1/scaling"}) {
    const Pairs lower = {{"gpu_type", "h100"}, {"dtype", "fp8"}, {"include", "all"}};
    const Pairs upper = {{"gpu_type", "H100"}, {"dtype", "FP8"}, {"include", "all"}};
    EXPECT_FALSE(get_json(resource, lower)["series"].empty());
    EXPECT_EQ(get_json(resource, upper)["series"], get_json(resource, lower)["series"]);
  }
  for (const std::string list : {"recipes", "references"}) {
    const auto of = [&](const char* gpu_type, const char* dtype) {
      return get_json("/api/v1/" + list, {{"gpu_type", gpu_type}, {"dtype", dtype}})[list];
    };
    EXPECT_FALSE(of("gb200", "fp8").empty());
    EXPECT_EQ(of("GB200", "FP8"), of("gb200", "fp8"));
  }
}

TEST_F(RunList, TakesSeveralValuesOfAFilter) {
  fill();
  const auto count = [&](const Pairs& query) { return get_json("/api/v1/runs", query)["total"]; };
  const auto of = [&](const char* status) { return count({{"status", status}}).get<int>(); };
  EXPECT_EQ(count({{"status", "complete"}, {"status", "failed"}}), of("complete") + of("failed"));
  EXPECT_EQ(of("ended_badly"), of("failed") + of("incomplete") + of("invalid") + of("no_data"));
  EXPECT_EQ(count({{"status", "ended_badly"}, {"status", "complete"}}), count({}));
  EXPECT_NE(get_detail("/api/v1/runs", {{"status", "hung"}}, 400).find("ended_badly"),
            std::string::npos);
  EXPECT_EQ(count({{"experiment", "alpha"}, {"experiment", "beta"}, {"experiment", "beta"}}), 4);
  EXPECT_EQ(count({{"failure_cause", "time_limit"}, {"failure_cause", "hung"}}),
            count({{"failure_cause", "time_limit"}}));
  EXPECT_NE(get_detail("/api/v1/runs", {{"mark", "slow"}}, 400).find("function_check, proxy"),
            std::string::npos);
  EXPECT_NE(get_detail("/api/v1/runs", {{"q", "a"}, {"q", "b"}}, 400).find("more than once"),
            std::string::npos);
}

TEST_F(RunList, ShowsFiltersAndSortsWhatTheCatalogMakesOfARun) {
  auto fast = sample_batch(root_, "fast", 1, 49, 7.0);
  fast.listed = {{}, 200.0, 0.5, 1.1, {}, 1};
  auto slow = sample_batch(root_, "slow", 2, 49, 9.0);
  slow.listed = {{}, 100.0, 0.25, 0.9, {parser::RunMark::proxy, parser::RunMark::implausible}, 1};
  slow.profiles.reset();
  const auto none = sample_batch(root_, "none", 3, 49, 8.0);
  writer_->commit(std::vector{fast, slow, none});
  const Json runs = get_json("/api/v1/runs", {{"sort", "speed_against_reference"}})["runs"];
  EXPECT_EQ(runs[0]["experiment"], "slow");
  EXPECT_EQ(runs[0]["mfu"], 0.25);
  EXPECT_EQ(runs[0]["tokens_per_s_per_gpu"], 100.0);
  EXPECT_EQ(runs[0]["speed_against_reference"], 0.9);
  EXPECT_EQ(runs[0]["marks"], Json::array({"proxy", "implausible"}));
  EXPECT_TRUE(runs[2]["speed_against_reference"].is_null());
  const auto count = [&](const Pairs& query) { return get_json("/api/v1/runs", query)["total"]; };
  EXPECT_EQ(count({{"speed_against_reference_at_most", "0.95"}}), 1);
  EXPECT_EQ(count({{"mfu_at_least", "0.25"}}), 2);
  EXPECT_EQ(count({{"mark", "proxy"}}), 1);
  EXPECT_EQ(count({{"mark", "implausible"}}), 1);
  EXPECT_EQ(count({{"mark", "none"}}), 0);  // the other two have profiles
  EXPECT_EQ(count({{"mark", "profiled"}, {"mark", "proxy"}}), 3);
}

TEST_F(RunList, ChoicesAreWhatRunsHave) {
  EXPECT_EQ(get_json("/api/v1/choices")["workload"], Json::array());
  auto eight = sample_batch(root_, "eight", 1, 49, 7.0);
  eight.configuration.set("gpu_count", "8", parser::ConfigSource::llmb_config);
  eight.listed.identity.gpu_count = 8;
  auto many = sample_batch(root_, "many", 2, 49, 7.0);
  many.configuration.set("gpu_count", "64", parser::ConfigSource::llmb_config);
  many.configuration.set("cluster", "eos", parser::ConfigSource::llmb_config);
  many.listed.identity.gpu_count = 64;
  writer_->commit(std::vector{many, eight});
  const Json choices = get_json("/api/v1/choices");
  EXPECT_EQ(choices["gpu_count"], Json::array({8, 64}));
  EXPECT_EQ(choices["cluster"], Json::array({"eos"}));
  EXPECT_EQ(choices["failure_cause"], Json::array());
  EXPECT_EQ(choices["workload"].size(), 1U);
  get_json("/api/v1/choices", {{"workload", "x"}}, 400);
}

TEST_F(RunList, ChoicesNameThoseThatAreCut) {
  const int many = static_cast<int>(storage::kChoicesMax) + 1;
  std::vector<storage::IngestBatch> batches;
  for (int run = 0; run < many; ++run) {
    batches.push_back(sample_batch(root_, fmt::format("of_{}_gpus", run), run, 0, 7.0));
    batches.back().configuration.set("gpu_count", std::to_string(run + 1),
                                     parser::ConfigSource::llmb_config);
    batches.back().listed.identity.gpu_count = run + 1;
  }
  batches.pop_back();
  writer_->commit(batches);
  EXPECT_EQ(get_json("/api/v1/choices")["cut"], Json::array());
  auto last = sample_batch(root_, "of_many_gpus", many, 0, 7.0);
  last.configuration.set("gpu_count", "100000", parser::ConfigSource::llmb_config);
  last.listed.identity.gpu_count = 100'000;
  writer_->commit({&last, 1});
  const Json choices = get_json("/api/v1/choices");
  EXPECT_EQ(choices["cut"], Json::array({"gpu_count"}));
  EXPECT_EQ(choices["gpu_count"].size(), storage::kChoicesMax);
}

TEST_F(RunList, CountsFractionsOfASecondAsLater) {
  auto batch = sample_batch(root_, "alpha", 1, 49, 7.0);
  batch.path.launched_at = "2025-12-22T15:00:01.500000Z";
  writer_->commit({&batch, 1});
  EXPECT_EQ(get_json("/api/v1/runs", {{"since", "2025-12-22T15:00:01Z"}})["total"], 1);
  EXPECT_EQ(get_json("/api/v1/runs", {{"since", "2025-12-22T15:00:02Z"}})["total"], 0);
  EXPECT_EQ(get_json("/api/v1/runs", {{"before", "2025-12-22T15:00:01Z"}})["total"], 0);
  EXPECT_EQ(get_json("/api/v1/runs", {{"before", "2025-12-22T15:00:02Z"}})["total"], 1);
  EXPECT_EQ(get_json("/api/v1/runs", {{"before", "2025-12-22T15:00:01.7Z"}})["total"], 1);
  EXPECT_EQ(get_json("/api/v1/runs", {{"since", "2025-12-22"}, {"before", "2025-12-23"}})["total"],
            1);
}

TEST_F(RunList, RefusesWhatItDoesNotKnowAndSaysWhatIsAllowed) {
  fill();
  const std::string unknown = get_detail("/api/v1/runs", {{"expriment", "alpha"}}, 400);
  EXPECT_NE(unknown.find("'expriment'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("experiment, workload"), std::string::npos) << unknown;
  EXPECT_NE(get_detail("/api/v1/runs", {{"limit", "0"}}, 400).find("1 to 500"), std::string::npos);
  EXPECT_NE(get_detail("/api/v1/runs", {{"limit", "501"}}, 400).find("500"), std::string::npos);
  EXPECT_NE(get_detail("/api/v1/runs", {{"sort", "speed"}}, 400).find("step_time_s_mean"),
            std::string::npos);
  EXPECT_NE(get_detail("/api/v1/runs", {{"status", "done"}}, 400).find("incomplete"),
            std::string::npos);
  get_detail("/api/v1/runs", {{"since", "yesterday"}}, 400);
  get_detail("/api/v1/runs", {{"gpu_count", "many"}}, 400);
  get_detail("/api/v1/runs", {{"gpu_count", "-1"}}, 400);
  get_detail("/api/v1/runs", {{"dtype", ""}}, 400);
  get_detail("/api/v1/runs", {{"since", "2025-01-01"}, {"since", "2025-01-02"}}, 400);
  get_detail("/api/v1/runs", {{"include_superseded", "1"}}, 400);
}

TEST_F(RunList, RefusesACursorOfAnotherQuestion) {
  fill();
  const Json list = get_json("/api/v1/runs", {{"limit", "1"}, {"experiment", "alpha"}});
  const std::string cursor = list["next_cursor"].get<std::string>();
  EXPECT_NE(get_detail("/api/v1/runs", {{"cursor", cursor}}, 400).find("other filters"),
            std::string::npos);
  EXPECT_NE(
      get_detail("/api/v1/runs", {{"cursor", cursor}, {"experiment", "alpha"}, {"sort", "id"}}, 400)
          .find("sorted by '-launched_at'"),
      std::string::npos);
  EXPECT_NE(get_detail("/api/v1/runs", {{"cursor", "x" + cursor}, {"experiment", "alpha"}}, 400)
                .find("next_cursor"),
            std::string::npos);
  // Another limit is the same question.
  EXPECT_EQ(get_json("/api/v1/runs",
                     {{"cursor", cursor}, {"experiment", "alpha"}, {"limit", "7"}})["runs"]
                .size(),
            1U);
}

TEST_F(RunList, IsTaggedByDataAndQuestion) {
  fill();
  const http::Response first = get("/api/v1/runs");
  ASSERT_FALSE(first.etag.empty());
  EXPECT_NE(get("/api/v1/runs", {{"limit", "3"}}).etag, first.etag);
  EXPECT_EQ(get("/api/v1/runs", {{"limit", "3"}, {"sort", "id"}}).etag,
            get("/api/v1/runs", {{"sort", "id"}, {"limit", "3"}}).etag);
  const Pairs condition = {{"if-none-match", "\"" + first.etag + "\""}};
  EXPECT_EQ(get("/api/v1/runs", {}, condition).body, nullptr);
  EXPECT_EQ(get("/api/v1/runs", {}, condition).etag, first.etag);
  add_run("delta", 6, 49, 1.0);
  const http::Response changed = get("/api/v1/runs", {}, condition);
  EXPECT_NE(changed.etag, first.etag);
  ASSERT_NE(changed.body, nullptr);
  EXPECT_EQ(Json::parse(*changed.body)["total"], 6);
}

TEST_F(RunList, IsRenderedOnceForEachState) {
  fill();
  const auto body = get("/api/v1/runs").body;
  EXPECT_EQ(get("/api/v1/runs").body, body) << "the very same bytes";
}

TEST_F(RunList, SurvivesNamesThatAreNotText) {
  add_run("caf\xff", 7, 49, 1.0);
  add_run("caf\xfe", 8, 49, 1.0);
  add_run("zzz", 9, 49, 1.0);
  std::set<std::int64_t> seen;
  std::string cursor;
  for (int page = 0; page < 5; ++page) {
    Pairs query = {{"sort", "experiment"}, {"limit", "1"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const Json list = get_json("/api/v1/runs", query);
    for (const std::int64_t id : ids(list)) EXPECT_TRUE(seen.insert(id).second);
    if (list["next_cursor"].is_null()) break;
    cursor = list["next_cursor"].get<std::string>();
  }
  EXPECT_EQ(seen.size(), 3U);
}

}  // namespace
}  // namespace llmb::api
