// The embedded catalog against the five documents, by sampling rows of each.
#include "parser/catalog/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace llmb::parser {
namespace {

const Recipe* find_recipe(const std::string& document, std::int64_t line) {
  for (const Recipe& recipe : embedded_catalog().recipes) {
    if (recipe.document == document && recipe.line == line) return &recipe;
  }
  return nullptr;
}

TEST(Catalog, HoldsEveryRowOfTheFiveDocuments) {
  std::map<std::string, int> rows;
  for (const Recipe& recipe : embedded_catalog().recipes) ++rows[recipe.document];
  const std::map<std::string, int> expected = {{"grok1-24.11", 9},
                                               {"grok1-25.05", 4},
                                               {"llama3.1-25.10", 12},
                                               {"llama4-25.05", 4},
                                               {"nemotron4-25.04", 12}};
  EXPECT_EQ(rows, expected);
}

// Grok-1 2024: 8 GPUs, SeqLen 4096, 2 layers, TP 4, EP 2, GBS 1024, GA 128.
TEST(Catalog, KnowsTheProxiesOfThe2024GrokTable) {
  const Recipe* const recipe = find_recipe("grok1-24.11", 4);
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->gpu_count_min, 8);
  EXPECT_EQ(recipe->sequence_length, 4096);
  EXPECT_EQ(recipe->layer_count, 2);
  EXPECT_EQ(recipe->tensor_parallel, 4);
  EXPECT_EQ(recipe->expert_parallel, 2);
  EXPECT_EQ(recipe->virtual_pipeline, std::nullopt);
  EXPECT_EQ(recipe->global_batch_size.value(8), 1024);
  EXPECT_EQ(recipe->gradient_accumulation, 128);
  EXPECT_TRUE(recipe->is_proxy);
  // "For proxy configs (<512 GPUs scales) we don't provide time to train estimates".
  for (const Recipe& row : embedded_catalog().recipes) {
    const bool is_small = row.document == "grok1-24.11" && row.gpu_count_min < 512;
    EXPECT_EQ(row.is_proxy, is_small) << row.document << " line " << row.line;
  }
}

// Llama 3.1, B200: 405b, 128-1024 GPUs, TP 4, PP 8, CP 2, DP GPUs/64, VP 8, GBS GPUs/2, GA 32.
TEST(Catalog, KnowsTheFormulasOfTheLlamaTables) {
  const Recipe* const recipe = find_recipe("llama3.1-25.10", 36);
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->gpu_type, "b200");
  EXPECT_EQ(recipe->gpu_count_max, 1024);
  EXPECT_EQ(to_string(recipe->data_parallel), "GPUs/64");
  EXPECT_EQ(recipe->data_parallel.value(256), 4);
  EXPECT_EQ(recipe->data_parallel.value(100), std::nullopt);
  EXPECT_EQ(recipe->global_batch_size.value(256), 128);
  EXPECT_EQ(recipe->fully_sharded, false);
  EXPECT_EQ(recipe->cuda_graphs, false);
  EXPECT_EQ(recipe->recompute_layers, 0);
  EXPECT_EQ(recipe->offload_layers, 0);
  const Recipe* const offloading = find_recipe("llama3.1-25.10", 13);
  ASSERT_NE(offloading, nullptr);
  EXPECT_EQ(offloading->offload_layers, 80);
  EXPECT_EQ(offloading->fully_sharded, true);
}

TEST(Catalog, KeepsThePeakThatEachDocumentStates) {
  const Catalog& catalog = embedded_catalog();
  // Grok-1 GB200/H100, "Expected Performance": 4.9 and 2.45 PFLOPS, 1979 and 989 TFLOPS.
  EXPECT_EQ(catalog.peak("gb200", "fp8", "grok1-25.05")->tflops, 4900);
  EXPECT_EQ(catalog.peak("gb200", "bf16", "grok1-25.05")->tflops, 2450);
  EXPECT_EQ(catalog.peak("h100", "bf16", "nemotron4-25.04")->document, "nemotron4-25.04");
  // Llama 3.1, "Peak theoretical FP8 throughput across GPUs".
  EXPECT_EQ(catalog.peak("b200", "fp8", "llama3.1-25.10")->tflops, 4500);
  EXPECT_EQ(catalog.peak("gb300", "fp8", "llama3.1-25.10")->tflops, 4900);
  // It has no BF16 peak for the B200, so the catalog has none either.
  EXPECT_EQ(catalog.peak("b200", "bf16", "llama3.1-25.10"), nullptr);
}

// "Since the performance fluctuates significantly at the beginning, we are using the last training
// step timing" (Grok-1 2024, Nemotron-4); "iterations 11-44" and "iterations 35-44" otherwise.
TEST(Catalog, HoldsEachDocumentsWindow) {
  const Catalog& catalog = embedded_catalog();
  EXPECT_EQ(catalog.document("grok1-24.11")->default_window, std::nullopt);
  EXPECT_EQ(catalog.document("nemotron4-25.04")->default_window, std::nullopt);
  EXPECT_EQ(catalog.document("grok1-25.05")->default_window, (Window{11, 44}));
  EXPECT_EQ(catalog.document("llama4-25.05")->default_window, (Window{11, 44}));
  EXPECT_EQ(catalog.document("llama3.1-25.10")->default_window, (Window{35, 44}));
}

// Grok 1: "GPU_TYPE: Type of GPU hardware (fixed: gb200)". Llama 3.1: "Model variant (default:
// 405b)". Llama 4: "Precision format (default: bf16)", "MPI Ranks: 0-8".
TEST(Catalog, DefaultsOfLaunchVariablesAreThoseOfTheNewestDocument) {
  const Catalog& catalog = embedded_catalog();
  EXPECT_EQ(catalog.launch_defaults("pretrain_grok1").model_size, "314b");
  EXPECT_EQ(catalog.launch_defaults("pretrain_grok1").gpu_type, "gb200");
  EXPECT_EQ(catalog.launch_defaults("pretrain_grok1").profile_ranks, "all");
  EXPECT_EQ(catalog.launch_defaults("pretrain_llama3.1").model_size, "405b");
  EXPECT_EQ(catalog.launch_defaults("pretrain_llama4_maverick").dtype, "bf16");
  EXPECT_EQ(catalog.launch_defaults("pretrain_llama4_maverick").profile_ranks, "0-8");
  EXPECT_EQ(catalog.launch_defaults("pretrain_llama4_maverick").profile_variables, "PROFILE_");
  EXPECT_EQ(catalog.launch_defaults("pretrain_nemotron4").model_size, "");  // has to be said
  EXPECT_EQ(catalog.launch_defaults("pretrain_anything").profile_ranks, "all");
}

TEST(Catalog, HoldsTheResultsOfTheFiveDocumentsAsPrinted) {
  const Catalog& catalog = embedded_catalog();
  const auto in_documents =
      std::count_if(catalog.references.begin(), catalog.references.end(),
                    [](const Reference& reference) { return !reference.document.empty(); });
  EXPECT_EQ(in_documents, 58);
  const auto found = std::find_if(
      catalog.references.begin(), catalog.references.end(), [](const Reference& reference) {
        return reference.document == "grok1-25.05" && reference.dtype == "fp8" &&
               reference.gpu_type == "gb200" && reference.gpu_count == 128;
      });
  ASSERT_NE(found, catalog.references.end());
  EXPECT_EQ(found->step_time_s->text, "5.298");
  EXPECT_EQ(found->mfu_percent->text, "32.90");  // the printed nought is kept
  EXPECT_EQ(found->release, "25.05");
  EXPECT_EQ(catalog.recipe_of(*found)->global_batch_size.value(128), 256);
}

TEST(Catalog, KnowsWhichResultsAreOfProxiesAndWhichRunsCanBeHeldTo) {
  const auto published = [](std::string_view release, std::string_view model_size,
                            std::int64_t gpu_count) -> const Reference& {
    const auto& references = embedded_catalog().references;
    const auto found = std::ranges::find_if(references, [&](const Reference& reference) {
      return reference.release == release && reference.model_size == model_size &&
             reference.gpu_type == "h100" && reference.gpu_count == gpu_count;
    });
    if (found == references.end()) throw std::logic_error("no such result");
    return *found;
  };
  const auto told = [](const Reference& reference) {
    return std::pair(reference.has_recipe, reference.is_proxy);
  };
  EXPECT_EQ(told(published("24.11", "314b", 8)), std::pair(true, true));
  EXPECT_EQ(told(published("24.11", "314b", 512)), std::pair(true, false));
  EXPECT_EQ(told(published("24.11.1", "405b", 32)), std::pair(false, true));  // of 7 layers
  EXPECT_EQ(told(published("25.04", "405b-proxy", 32)), std::pair(false, true));
  EXPECT_EQ(told(published("25.04", "8b", 8)), std::pair(false, false));
}

}  // namespace
}  // namespace llmb::parser
