// What a catalog file must not be, and what the refusal says.
#include "parser/catalog/catalog_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/server/cli/json_schema.h"

namespace llmb::parser {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string refusal(const std::string& text) {
  const auto loaded = load_catalog_over_embedded({"my.json", text});
  return loaded ? "" : loaded.error().message;
}

std::string model_lines(const std::string& more) {
  return R"({"schema_version": 1,
 "models": [
  {"family": "deepseek_v3", "size": "671b", "layer_count": 61, "hidden_size": 7168,
   "attention_head_count": 128, "query_group_count": 128, "head_size": 128,
   "ffn_hidden_size": 18432, "vocabulary_size": 129280, "sequence_length": 4096,
   "activation": "swiglu", "normalization": "rms_norm", "tied_embeddings": false,
   "rotary_fraction": 1.0, "rotary_base": 10000,
   "source": "the published model")" +
         more + "}]}";
}

TEST(CatalogLoader, AddsToTheEmbeddedCatalogAndReplaces) {
  const auto added = load_catalog_over_embedded({"my.json", model_lines("")});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_NE(added->model("deepseek_v3", "671b"), nullptr);
  EXPECT_EQ(added->models.size(), embedded_catalog().models.size() + 1);

  const auto replaced = load_catalog_over_embedded({"my.json", R"({"schema_version": 1, "gpus": [
    {"gpu_type": "h100", "memory_gb": 94, "gpus_per_node": 4, "peaks": []}]})"});
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_EQ(replaced->gpus.size(), embedded_catalog().gpus.size());
  EXPECT_EQ(replaced->gpu("h100")->memory_gb, 94);
}

TEST(CatalogLoader, RefusesAnUnknownKeyWithItsLine) {
  EXPECT_THAT(refusal(model_lines(",\n   \"layers\": 61")),
              AllOf(StartsWith("my.json:9: unknown key 'layers'; allowed here: family, size"),
                    HasSubstr("layer_count")));
  EXPECT_THAT(refusal("{\"schema_version\": 1,\n \"recipies\": []}"),
              StartsWith("my.json:2: unknown key 'recipies'"));
}

TEST(CatalogLoader, RefusesDuplicates) {
  EXPECT_EQ(refusal(model_lines(",\n   \"size\": \"670b\"")),
            "my.json:9: the key 'size' comes twice");
  EXPECT_EQ(refusal(R"({"schema_version": 1, "gpus": [
  {"gpu_type": "x", "memory_gb": 94, "gpus_per_node": 4, "peaks": []},
  {"gpu_type": "x", "memory_gb": 80, "gpus_per_node": 8, "peaks": []}]})"),
            "my.json:3: there is an earlier entry for x in gpus");
}

std::string reference_with(const std::string& field) {
  return R"({"schema_version": 1, "references": [
  {"workload": "pretrain_grok1", "model_size": "314b", "dtype": "fp8", "gpu_type": "h100",
   "gpu_count": 512, "release": "25.09", "source": "mine",
   )" + field +
         "}]}";
}

TEST(CatalogLoader, RefusesWrongUnits) {
  EXPECT_EQ(refusal(reference_with("\"step_time_s\": \"13433\"")),
            "my.json:4: 'step_time_s' is 13433, and should be in seconds, from 0.001 to 3600");
  EXPECT_EQ(refusal(reference_with("\"mfu_percent\": \"0.322\"")),
            "my.json:4: 'mfu_percent' is 0.322, and should be in percent, from 1 to 100");
  EXPECT_THAT(refusal(reference_with("\"step_time_ms\": \"13433\"")),
              AllOf(StartsWith("my.json:4: unknown key 'step_time_ms'"), HasSubstr("step_time_s")));
  EXPECT_EQ(refusal(R"({"schema_version": 1, "gpus": [{"gpu_type": "x", "memory_gb": 94,
  "gpus_per_node": 4, "peaks": [{"dtype": "fp8", "document": "grok1-25.05",
  "tflops": 4.9}]}]})"),
            "my.json:3: 'tflops' is 4.9, and should be a number in TFLOPS (1e12 FLOP/s), from 50 "
            "to 100000");
}

TEST(CatalogLoader, RefusesWrongTypesAndFormulas) {
  EXPECT_EQ(refusal(reference_with("\"step_time_s\": 13.433")),
            "my.json:4: 'step_time_s' should be text that holds the number as printed, such as "
            "\"5.293\"");
  EXPECT_EQ(refusal("{\"schema_version\": 2}"),
            "my.json:1: 'schema_version' is 2, and should be a whole number from 1 to 1");
  EXPECT_THAT(refusal("{\"schema_version\": 1,\n\"gpus\": 5}"),
              StartsWith("my.json:2: 'gpus' should be a list"));
  EXPECT_THAT(refusal("{\"schema_version\": 1,\n \"gpus\": [}"),
              StartsWith("my.json:2: this is no JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("should be an object"));
  EXPECT_THAT(refusal(""), HasSubstr("this is no JSON"));
}

TEST(CatalogLoader, RefusesWhatPointsNowhere) {
  std::string text = reference_with("\"step_time_s\": \"13.4\"");
  text.replace(text.find("h100"), 4, "h900");
  EXPECT_EQ(refusal(text),
            "my.json:2: 'gpu_type' is 'h900', which the catalog lacks; it has h100, b200, gb200, "
            "gb300");
}

TEST(CatalogLoader, RefusesASampleWithoutARow) {
  const auto sample = [](const std::string& gpu_count) {
    return R"({"schema_version": 1, "sample_outputs": [
  {"document": "grok1-25.05", "line": 7, "text": "mine", "model_size": "314b", "dtype": "fp8",
   "gpu_type": "gb200", "configuration_source": "mine", "gpu_count": )" +
           gpu_count + "}]}";
  };
  EXPECT_EQ(refusal(sample("64")),
            "my.json:3: 'grok1-25.05' has no row of 314b fp8 on 64 gb200, at which DP and GBS are "
            "whole numbers: without one, leave gpu_count out");
  EXPECT_EQ(refusal(sample("128")), "");
}

// "128-512, GBS GPUs/2" and, of B200, "128-1024, DP GPUs/64": not every number between is a scale.
TEST(CatalogLoader, RefusesASampleBetweenTheScalesOfARange) {
  const auto sample = [](const std::string& gpu_type, const std::string& gpu_count) {
    return R"({"schema_version": 1, "sample_outputs": [
  {"document": "llama3.1-25.10", "line": 7, "text": "mine", "model_size": "405b", "dtype": "fp8",
   "configuration_source": "mine", "gpu_type": ")" +
           gpu_type + R"(", "gpu_count": )" + gpu_count + "}]}";
  };
  EXPECT_THAT(refusal(sample("gb200", "129")), HasSubstr("has no row of 405b fp8 on 129 gb200"));
  EXPECT_EQ(refusal(sample("gb200", "130")), "");
  EXPECT_THAT(refusal(sample("b200", "130")), HasSubstr("has no row of 405b fp8 on 130 b200"));
  EXPECT_EQ(refusal(sample("b200", "192")), "");
}

TEST(CatalogLoader, RefusesADeviationWithoutItsMean) {
  const auto sample = [](const std::string& figures) {
    return R"({"schema_version": 1, "sample_outputs": [
  {"document": "grok1-25.05", "line": 7, "text": "mine",
   )" + figures +
           "}]}";
  };
  EXPECT_EQ(refusal(sample(R"("step_time_s": "7.39", "tflops_per_gpu_std": "6.26")")),
            "my.json:3: 'tflops_per_gpu_std' is there without its mean: add tflops_per_gpu");
  EXPECT_EQ(refusal(sample(R"("step_time_ms_std": "40")")),
            "my.json:3: 'step_time_ms_std' is there without its mean: add step_time_s or "
            "step_time_ms");
  EXPECT_EQ(refusal(sample(R"("step_time_ms": "7390", "step_time_s_std": "0.04")")), "");
}

// The embedded rows of a workload stay its own when a file replaces it.
TEST(CatalogLoader, RefusesAFamilyWithoutTheModelsOfItsRows) {
  const auto grok_of = [](const std::string& family) {
    return R"({"schema_version": 1, "workloads": [
  {"workload": "pretrain_grok1",
   "family": ")" +
           family + R"(", "flops_formula": "recipe"}]})";
  };
  EXPECT_EQ(refusal(grok_of("mygrok")),
            "my.json:3: 'family' is 'mygrok', and models has no mygrok 314b, which grok1-24.11 "
            "line 4 is a row of: add it to models, or give the workload another name");
  EXPECT_EQ(refusal(grok_of("grok1")), "");
}

TEST(CatalogLoader, RefusesANameThatAnotherWorkloadHas) {
  const auto named = [](const std::string& name, const std::string& aliases) {
    return R"({"schema_version": 1, "workloads": [
  {"workload": ")" +
           name + R"(", "family": "grok1", "flops_formula": "recipe",
   "aliases": [)" +
           aliases + "]}]}";
  };
  EXPECT_EQ(refusal(named("llama31", R"("my_llama")")),
            "my.json:2: 'llama31' is already a name of pretrain_llama3.1");
  EXPECT_EQ(refusal(named("mine", R"("pretrain_grok1")")),
            "my.json:3: 'pretrain_grok1' is already a name of pretrain_grok1");
  EXPECT_EQ(refusal(named("mine", R"("my_grok")")), "");
}

TEST(ScaleFormula, ReadsTheDocumentsColumns) {
  EXPECT_EQ(parse_scale_formula("GPUs*16")->value(8), 128);
  EXPECT_EQ(parse_scale_formula("GPUs/2")->value(3), std::nullopt);
  EXPECT_EQ(parse_scale_formula("1024")->value(8), 1024);
  for (const char* wrong : {"GPUs/0", "GPUs+1", "gpus", "", "0", "-2", "GPUs/", "GPUs*1.5"}) {
    EXPECT_FALSE(parse_scale_formula(wrong)) << wrong;
  }
}

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(LLMB_SOURCE_DIR "/parser/catalog/" + name);
  return nlohmann::json::parse(file);
}

TEST(CatalogSchema, DescribesTheEmbeddedFiles) {
  for (const std::string name : {"recipes", "references"}) {
    EXPECT_THAT(cli::schema_violations(read_json(name + ".schema.json"), read_json(name + ".json")),
                IsEmpty());
  }
  EXPECT_THAT(
      cli::schema_violations(read_json("recipes.schema.json"), read_json("later_recipes.json")),
      IsEmpty());
}

TEST(CatalogSchema, RefusesWhatTheLoaderRefuses) {
  nlohmann::json recipes = read_json("recipes.json");
  recipes["recipes"][0]["layers"] = 2;
  recipes["gpus"][0].erase("gpus_per_node");
  EXPECT_EQ(cli::schema_violations(read_json("recipes.schema.json"), recipes).size(), 2U);
}

}  // namespace
}  // namespace llmb::parser
