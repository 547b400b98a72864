// /runs/{id}/metrics, /recipes, /references and /references/audit on a real database.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

class RunMetrics : public ApiTest {
 protected:
  std::string metrics_of(storage::RunId run) {
    return "/api/v1/runs/" + std::to_string(run) + "/metrics";
  }
};

// Nemotron-4 document: 389371 tokens/s, 29.7 days and 65.26 % at 2.693 s; its table has 2.67 s.
TEST_F(RunMetrics, SaysWhatThePublishedRunMeans) {
  const Json json = get_json(metrics_of(add_published_run(256)));
  EXPECT_EQ(json["window"], "49-49");  // "the last training step timing"
  EXPECT_EQ(json["window_source"], "nemotron4-25.04");
  EXPECT_EQ(json["recipe_match"]["outcome"], "matched");
  EXPECT_EQ(json["recipe_match"]["recipe"]["line"], 11);
  EXPECT_NEAR(json["metrics"]["tokens_per_s"]["value"].get<double>(), 389371, 0.5);
  EXPECT_NEAR(json["metrics"]["days_to_train"]["value"].get<double>(), 29.7, 0.05);
  EXPECT_NEAR(json["metrics"]["mfu_model_flops_reference"]["value"].get<double>(), 0.6526, 1e-4);
  EXPECT_EQ(json["metrics"]["tokens_per_s"]["reason"], nullptr);
  EXPECT_EQ(json["reference"]["step_time_s"], 2.67);
  EXPECT_NEAR(json["speed_against_reference"].get<double>(), 2.67 / 2.693, 1e-9);
}

TEST_F(RunMetrics, TakesTokensAndWindow) {
  const std::string path = metrics_of(add_published_run(256));
  const Json json = get_json(path, {{"tokens", "15e12"}, {"window", "35-44"}});
  EXPECT_EQ(json["window"], "35-44");
  EXPECT_EQ(json["window_source"], "asked for");
  EXPECT_NEAR(json["metrics"]["days_to_train"]["value"].get<double>(), 15 * 29.72, 0.2);
  EXPECT_THAT(get_detail(path, {{"tokens", "many"}}, 400), HasSubstr("such as 1e12"));
  EXPECT_THAT(get_detail(path, {{"tokens", "nan"}}, 400), HasSubstr("a number from 1 to 1e+18"));
  get_json("/api/v1/runs/999/metrics", {}, 404);
}

TEST_F(RunMetrics, LeavesOutStepsButForWhatIsHeldAgainstPublishedFigures) {
  auto batch = published_batch(256);
  batch.samples[40].extra_fields = {{"after_checkpoint", 1}};
  batch.samples[40].step_time_s = 70.0;
  const std::string path = metrics_of(writer_->commit({&batch, 1}).front());
  const Json with = get_json(path, {{"window", "35-44"}});
  const Json without = get_json(path, {{"window", "35-44"}, {"without", "checkpoint"}});
  EXPECT_NEAR(with["step_time_s_mean"].get<double>(), (9 * 2.693 + 70) / 10, 1e-9);
  EXPECT_NEAR(without["step_time_s_mean"].get<double>(), 2.693, 1e-9);
  EXPECT_NEAR(without["metrics"]["tokens_per_s"]["value"].get<double>(), 389371, 0.5);
  EXPECT_LT(with["speed_against_reference"].get<double>(), 0.5);
  EXPECT_EQ(without["speed_against_reference"], with["speed_against_reference"]);
  EXPECT_EQ(without["reference"], with["reference"]);
  get_detail(path, {{"without", "eval"}}, 400);
}

TEST_F(RunMetrics, NamesTheBatchThatDisagrees) {
  const Json json = get_json(metrics_of(add_published_run(128)));
  EXPECT_EQ(json["recipe_match"]["outcome"], "mismatched");
  EXPECT_EQ(json["recipe_match"]["mismatches"][0]["key"], "global_batch_size");
  EXPECT_EQ(json["metrics"]["tokens_per_s"]["value"], nullptr);
  EXPECT_THAT(json["metrics"]["tokens_per_s"]["reason"].get<std::string>(),
              HasSubstr("global_batch_size is 128"));
  EXPECT_EQ(json["reference"], nullptr);
  EXPECT_EQ(json["window"], "11-44");
}

TEST_F(RunMetrics, ListsRecipesAndReferencesByFilter) {
  const Json recipes =
      get_json("/api/v1/recipes", {{"model_size", "405b"}, {"gpu_type", "b200"}})["recipes"];
  ASSERT_EQ(recipes.size(), 1U);
  EXPECT_EQ(recipes[0]["data_parallel"], "GPUs/64");
  EXPECT_EQ(get_json("/api/v1/recipes")["recipes"].size(), 41U);
  EXPECT_EQ(
      get_json("/api/v1/recipes", {{"dtype", "fp8_cs"}, {"gpu_count", "8"}})["recipes"].size(),
      5U);  // Llama 8B on four GPUs, and the Grok proxy
  const Json references = get_json("/api/v1/references", {{"workload", "pretrain_grok1"},
                                                          {"dtype", "fp8"},
                                                          {"gpu_type", "gb200"},
                                                          {"release", "25.05"},
                                                          {"gpu_count", "512"}})["references"];
  ASSERT_EQ(references.size(), 1U);
  EXPECT_EQ(references[0]["tokens_per_s"], 807684);
  // As runs are asked for: by an alias, and by the dtype that they say.
  const auto count = [&](const char* what, const Pairs& query) {
    return get_json(std::string("/api/v1/") + what, query)[what].size();
  };
  for (const char* const what : {"references", "recipes"}) {
    EXPECT_GT(count(what, {{"workload", "grok1"}}), 0U) << what;
    EXPECT_EQ(count(what, {{"workload", "grok1"}}), count(what, {{"workload", "pretrain_grok1"}}));
    EXPECT_EQ(count(what, {{"dtype", "fp8_cs"}}), count(what, {{"dtype", "fp8"}}));
    EXPECT_EQ(count(what, {{"workload", "grok"}}), 0U);
  }
  get_detail("/api/v1/references", {{"status", "complete"}}, 400);
}

TEST_F(RunMetrics, AuditsTheReferencesOfADocument) {
  const Json audit = get_json("/api/v1/references/audit", {{"document", "grok1-25.05"}});
  const Json& findings = audit["findings"];
  EXPECT_EQ(findings.size(), 11U);
  EXPECT_EQ(findings[0]["line"], 43);
  EXPECT_EQ(findings[0]["is_of_other_release"], false);
  EXPECT_EQ(findings.back()["slip"], "text_against_table");
  std::set<std::string> documents;
  const Json recipes = get_json("/api/v1/recipes")["recipes"];
  for (const Json& recipe : recipes) documents.insert(recipe["document"].get<std::string>());
  for (const std::string& document : documents) {
    const Json of_document = get_json("/api/v1/recipes", {{"document", document}});
    EXPECT_FALSE(of_document["recipes"].empty()) << document;
  }
  EXPECT_THAT(get_detail("/api/v1/recipes", {{"document", "x"}}, 400), HasSubstr("'x'"));
  EXPECT_THAT(get_detail("/api/v1/references/audit", {{"document", "x"}}, 400),
              HasSubstr("nemotron4-25.04"));
}

}  // namespace
}  // namespace llmb::api
