// Runs as the documents name them, matched to the rows of the documents.
#include "parser/catalog/recipe_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/layout/experiment_name.h"
#include "parser/layout/llmb_config.h"
#include "parser/layout/run_path.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;

RunConfiguration named(const std::string& experiment, const std::string& gpu_type = "") {
  RunConfiguration configuration = parse_experiment_name(experiment);
  configuration.set("gpu_type", gpu_type, ConfigSource::llmb_config);
  return configuration;
}

RecipeMatch match(const RunConfiguration& configuration, Dialect dialect,
                  std::optional<std::int64_t> logged_batch = {}) {
  return match_recipe(embedded_catalog(), {configuration, dialect, logged_batch});
}

// Grok-1 GB200/H100, "Example output".
TEST(RecipeMatch, FindsTheGrokRunOfTheDocument) {
  const auto found = match(named("pretrain_grok1_314b_bf16_256"), Dialect::nemo);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->document, "grok1-25.05");
  EXPECT_EQ(found.recipe->line, 16);
  const Reference* const reference = find_reference(embedded_catalog(), found);
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->step_time_s->text, "7.39");
}

// The same scale in 2024 was a proxy with a progress bar.
TEST(RecipeMatch, TellsThe2024ProxyByItsDialect) {
  const auto found = match(named("pretrain_grok1_314b_bf16_256"), Dialect::nemo_progress_bar);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->document, "grok1-24.11");
  EXPECT_TRUE(found.is_proxy());
  EXPECT_EQ(found.document->default_window, std::nullopt);
}

// results/$GSW_VERSION/$DTYPE/314b/$JOB_TOTAL_GPUS names no workload; 314b is Grok-1's alone.
TEST(RecipeMatch, KnowsGrokByItsSizeInThe2024Tree) {
  const RunPath path = parse_run_path("results/24.11/fp8/314b/512/log-nemo_grok_1234.out");
  const auto found = match(path.configuration, Dialect::nemo_progress_bar);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->gpu_count_min, 512);
  EXPECT_FALSE(found.is_proxy());
}

// Llama 3.1, "Example output". The rows of GB200 and GB300 differ in nothing but the GPU.
TEST(RecipeMatch, NeedsTheGpuTypeWhereTwoRowsAreAlike) {
  const std::string name = "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
  const auto unclear = match(named(name), Dialect::megatron_bridge);
  EXPECT_EQ(unclear.outcome, MatchOutcome::ambiguous);
  EXPECT_EQ(unclear.candidates.size(), 2U);
  EXPECT_THAT(unclear.reason, HasSubstr("gpu_type would tell them apart"));
  const auto found = match(named(name, "gb200"), Dialect::megatron_bridge);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->line, 24);
  EXPECT_EQ(found.dtype, "fp8_cs");  // refines the table's FP8
  EXPECT_EQ(found.document->default_window, (Window{35, 44}));
}

// The column RL of that row is 0; llmb-step-runner says what it does more.
TEST(RecipeMatch, TellsOfMoreRecomputationThanTheRowHas) {
  RunConfiguration run =
      named("pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64", "gb200");
  run.set("recompute_layers", "6", ConfigSource::log_content);
  const auto found = match(run, Dialect::megatron_bridge);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_THAT(found.reason, HasSubstr("computes 6 of a stage's layers forward again, and the row "
                                      "0: its speed is of more work than the published one"));
  run.set("recompute_layers", "0", ConfigSource::log_content);
  EXPECT_EQ(match(run, Dialect::megatron_bridge).reason.find("again"), std::string::npos);
}

TEST(RecipeMatch, FindsTheRowHoweverItsGpuAndPrecisionAreSpelled) {
  RunConfiguration run = named("pretrain_grok1_314b_bf16_256", "GB200");
  run.set("dtype", "BF16", ConfigSource::llmb_config);
  const auto found = match(run, Dialect::nemo);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->gpu_type, "gb200");
}

TEST(RecipeMatch, OfAModelThatWasChangedIsNone) {
  const RunConfiguration whole = named("pretrain_grok1_314b_bf16_256", "gb200");
  const auto with = [&](const std::string& overrides) {
    const auto config = parse_llmb_config("job_config: {model_overrides: {" + overrides + "}}\n");
    EXPECT_TRUE(config) << overrides;
    RunConfiguration run = whole;
    if (config) run.merge(config->configuration);
    return match(run, Dialect::nemo);
  };
  const auto layers = with("num_layers: 32");
  EXPECT_EQ(layers.outcome, MatchOutcome::mismatched);
  EXPECT_THAT(layers.reason, HasSubstr("layer_count is 32 (llmb_config) and not 64"));
  EXPECT_EQ(with("num_layers: 64").outcome, MatchOutcome::matched);
  const auto others = with("hidden_size: 4096, ffn-hidden-size: 8192");
  EXPECT_EQ(others.outcome, MatchOutcome::mismatched);
  EXPECT_THAT(others.reason,
              HasSubstr("model_overrides is ffn_hidden_size=8192, hidden_size=4096 (llmb_config) "
                        "and not none"));
  for (const char* const of_no_row :
       {"max_steps: 50, seed: 3", "save_interval: 100, log_every_n_steps: 1, exp_name: mine",
        "tokenizer: {tokenizer_path: elsewhere}", "dtype: BF16, num_gpus: 256",
        "num_layers: '64.0'", "cuda-graphs: 'true'", "recompute-layers: '0'"}) {
    const auto found = with(of_no_row);
    EXPECT_EQ(found.outcome, MatchOutcome::matched) << of_no_row << ": " << found.reason;
  }
  EXPECT_THAT(with("num_gpus: 24").reason, HasSubstr("gpu_count is 24 (llmb_config) and not"));
  EXPECT_THAT(with("dtype: nvfp4").reason, HasSubstr("dtype is nvfp4 (llmb_config) and not"));
}

// Llama 4 Maverick, "Expected Performance": 64 nodes of 8 GPUs; vp1 where the table prints 12.
TEST(RecipeMatch, CountsTheGpusOfTheMaverickRunByItsNodes) {
  const auto found =
      match(named("pretrain_llama4_e128_fp8_64nodes_tp4_pp1_cp1_vp1_ep128_etp4_1mbs_1024gbs"),
            Dialect::nemo);
  ASSERT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
  EXPECT_EQ(found.recipe->document, "llama4-25.05");
  EXPECT_EQ(found.gpu_count, 512);
}

// The table of Nemotron-4 340B prints NA for VP; its runs are named vp12.
TEST(RecipeMatch, ComparesOnlyWhatTheTableStates) {
  const auto found =
      match(named("pretrain_nemotron4_340b_fp8_gpus256_tp8_pp8_cp1_vp12_mbs1_gbs64", "h100"),
            Dialect::nemo);
  EXPECT_EQ(found.outcome, MatchOutcome::matched) << found.reason;
}

TEST(RecipeMatch, NamesWhatDisagrees) {
  const auto batch = match(named("pretrain_nemotron4_15b_bf16_64"), Dialect::nemo, 512);
  ASSERT_EQ(batch.outcome, MatchOutcome::mismatched);
  ASSERT_EQ(batch.mismatches.size(), 1U);
  EXPECT_EQ(batch.mismatches[0].key, "global_batch_size");
  EXPECT_EQ(batch.mismatches[0].run_value, "512");
  EXPECT_EQ(batch.mismatches[0].run_source, "log_content");
  EXPECT_EQ(batch.mismatches[0].recipe_value, "256");
  EXPECT_THAT(batch.reason, HasSubstr("global_batch_size is 512 (log_content) and not 256"));

  const auto scale = match(named("pretrain_nemotron4_15b_bf16_24"), Dialect::nemo);
  EXPECT_EQ(scale.outcome, MatchOutcome::mismatched);
  EXPECT_EQ(scale.mismatches.at(0).key, "gpu_count");

  const auto dtype = match(named("pretrain_nemotron4_15b_nvfp4_64"), Dialect::nemo);
  EXPECT_EQ(dtype.outcome, MatchOutcome::mismatched);
  EXPECT_EQ(dtype.mismatches.at(0).key, "dtype");

  const auto layout = match(
      named("pretrain_llama3_70b_fp8_mx_gpus512_tp2_pp4_cp1_vp5_ep1_etpNone_mbs1_gbs256", "gb200"),
      Dialect::megatron_bridge);
  EXPECT_EQ(layout.outcome, MatchOutcome::mismatched);
  EXPECT_THAT(layout.reason, HasSubstr("tensor_parallel is 2 (experiment_name) and not 1"));
}

TEST(RecipeMatch, SaysWhatToAddForAModelItLacks) {
  const auto workload = match(named("pretrain_deepseek_v3_671b_bf16_256"), Dialect::nemo);
  EXPECT_EQ(workload.outcome, MatchOutcome::unknown_model);
  EXPECT_THAT(workload.reason, HasSubstr("no workload 'pretrain_deepseek_v3'"));
  EXPECT_THAT(workload.reason, HasSubstr("--catalog FILE"));
  const auto size = match(named("pretrain_nemotron4_22b_bf16_64"), Dialect::nemo);
  EXPECT_EQ(size.outcome, MatchOutcome::unknown_model);
  EXPECT_THAT(size.reason, HasSubstr("no model nemotron4 22b"));
  const auto nothing = match(RunConfiguration(), Dialect::nemo);
  EXPECT_EQ(nothing.outcome, MatchOutcome::unknown_workload);
}

TEST(RecipeMatch, SaysWhatToAddForAModelWithoutAWorkload) {
  Catalog catalog;
  catalog.models.emplace_back().shape = {.family = "own", .size = "7b"};
  RunConfiguration run;
  run.set("model_size", "7b", ConfigSource::path);
  const auto found = match_recipe(catalog, {run, Dialect::nemo, {}});
  EXPECT_EQ(found.outcome, MatchOutcome::unknown_model);
  EXPECT_THAT(found.reason, HasSubstr("the model own 7b, but no workload of its family: add it"));
}

// More than any cluster has are damage, and their products would not fit.
TEST(RecipeMatch, TakesNoCountsThatAreOutOfReason) {
  RunConfiguration run = named("pretrain_grok1_314b_bf16", "gb200");
  for (const char* key : {"node_count", "gpus_per_node"}) {
    run.set(key, "9223372036854775807", ConfigSource::llmb_config);
  }
  EXPECT_EQ(match(run, Dialect::nemo, 512).gpu_count, std::nullopt);
  run.set("gpu_count", "9223372036854775807", ConfigSource::llmb_config);
  EXPECT_EQ(match(run, Dialect::nemo, 512).gpu_count, std::nullopt);
}

// 25.08 has a table for the B200, 25.04 has none.
TEST(RecipeMatch, TakesTheTablesOfALaterReleaseForRunsThatNameIt) {
  RunConfiguration run =
      named("pretrain_nemotron4_15b_bf16_gpus128_tp1_pp1_cp1_vpNone_mbs2_gbs512", "b200");
  EXPECT_EQ(match(run, Dialect::nemo).outcome, MatchOutcome::mismatched);
  run.set("release", "25.08.02", ConfigSource::llmb_config);
  const auto found = match(run, Dialect::nemo);
  ASSERT_NE(found.document, nullptr) << found.reason;
  EXPECT_EQ(found.document->id, "nemotron4-25.08");
  EXPECT_EQ(found.document->source, "v25.08.01:nemotron/README.md");
  EXPECT_EQ(find_reference(embedded_catalog(), found), nullptr);
}

// As llmb-step-runner states it, on 512 H100: both documents of Grok-1 have such a row, and only
// that of 2025 says how experts are split.
RunConfiguration step_runners_grok() {
  RunConfiguration run =
      named("pretrain_grok1_314b_bf16_512_tp4_pp8_cp2_vp8_ep8_mbs1_gbs1024", "h100");
  run.set("framework", "llmb-step-runner", ConfigSource::log_content);
  return run;
}

TEST(RecipeMatch, OfTheStepRunnerIsThatOfTheReleaseItNames) {
  RunConfiguration run = step_runners_grok();
  // The name of a log of the 2024 tree says so of any.
  run.set("framework", "nemo", ConfigSource::experiment_name);
  run.set("release", "24.11", ConfigSource::path);
  const auto found = match(run, Dialect::nemo);
  ASSERT_NE(found.recipe, nullptr) << found.reason;
  EXPECT_EQ(found.recipe->document, "grok1-24.11");
  run.set("release", "25.05.01", ConfigSource::path);
  EXPECT_EQ(match(run, Dialect::nemo).document->id, "grok1-25.05");
}

TEST(RecipeMatch, OfTheStepRunnerIsThatOfTheDocumentItNames) {
  RunConfiguration run = step_runners_grok();
  run.set("release", "25.05", ConfigSource::path);
  run.set("document", "grok1-24.11", ConfigSource::log_content);
  EXPECT_EQ(match(run, Dialect::nemo).document->id, "grok1-24.11");
  run.set("document", "grok1-25.05", ConfigSource::log_content);
  run.set("expert_tensor_parallel", "4", ConfigSource::log_content);
  const auto other = match(run, Dialect::nemo);
  EXPECT_EQ(other.outcome, MatchOutcome::mismatched);
  EXPECT_THAT(other.reason, HasSubstr("expert_tensor_parallel is 4 (log_content) and not 1"));
}

// It is in the catalog with its tables only.
TEST(RecipeMatch, TakesTheTablesOfALaterDocumentForRunsThatNameIt) {
  RunConfiguration run =
      named("pretrain_nemotron4_15b_bf16_gpus128_tp1_pp1_cp1_vpNone_mbs2_gbs512", "b200");
  run.set("document", "nemotron4-25.08", ConfigSource::log_content);
  const auto found = match(run, Dialect::nemo);
  ASSERT_NE(found.document, nullptr) << found.reason;
  EXPECT_EQ(found.document->id, "nemotron4-25.08");
}

TEST(RecipeMatch, OfTheStepRunnerIsByItsLinesWhereItNamesNeither) {
  const RunConfiguration run = step_runners_grok();
  EXPECT_EQ(match(run, Dialect::nemo).document->id, "grok1-25.05");
  EXPECT_EQ(match(run, Dialect::megatron_bridge).outcome, MatchOutcome::ambiguous);
}

// Any other program's lines are those of its document.
TEST(RecipeMatch, AsksForTheDialectOfEveryOtherProgram) {
  RunConfiguration run = step_runners_grok();
  run.set("framework", "nemo", ConfigSource::log_content);
  run.set("release", "24.11", ConfigSource::path);
  EXPECT_EQ(match(run, Dialect::nemo).document->id, "grok1-25.05");
  EXPECT_EQ(match(run, Dialect::megatron_bridge).outcome, MatchOutcome::mismatched);
}

TEST(RecipeMatch, IsOfNoRowWithOtherLayersOrAnotherSequence) {
  for (const char* key : {"layer_count", "sequence_length"}) {
    RunConfiguration run = step_runners_grok();
    run.set(key, "8", ConfigSource::log_content);
    const auto found = match(run, Dialect::nemo);
    EXPECT_EQ(found.outcome, MatchOutcome::mismatched) << found.reason;
    EXPECT_THAT(found.reason, HasSubstr(std::string(key) + " is 8 (log_content)"));
  }
}

TEST(RecipeMatch, IsAProxyByTheWordOfAnySource) {
  RunConfiguration run = step_runners_grok();
  EXPECT_FALSE(match(run, Dialect::nemo).is_proxy());
  run.set("proxy", "true", ConfigSource::log_content);
  run.set("proxy", "false", ConfigSource::llmb_config);
  EXPECT_TRUE(match(run, Dialect::nemo).is_proxy());
}

// The row of the document with results stands for the same row of other releases.
TEST(RecipeMatch, KeepsToTheDocumentWithResultsWhereItsRowAgrees) {
  RunConfiguration run = named("pretrain_grok1_314b_bf16_256", "gb200");
  run.set("release", "25.07", ConfigSource::llmb_config);
  EXPECT_EQ(match(run, Dialect::nemo).document->id, "grok1-25.05");
}

TEST(RecipeMatch, NeedsNoMoreThanTheDocumentsForTheirOwnRuns) {
  const Catalog& part = embedded_recipes(RecipeExtent::documents);
  EXPECT_TRUE(part.references.empty());
  EXPECT_TRUE(part.later_recipes.empty());
  EXPECT_EQ(part.recipes, embedded_catalog().recipes);
  EXPECT_EQ(embedded_recipes(RecipeExtent::all).later_recipes, embedded_catalog().later_recipes);
  EXPECT_EQ(embedded_catalog().later_recipes.size(), 279U);
}

}  // namespace
}  // namespace llmb::parser
