// The documents' worked examples, as metrics of runs.
#include "parser/statistics/derived_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/layout/experiment_name.h"
#include "parser/statistics/run_metrics.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct NamedRun {
  std::string experiment;
  std::string gpu_type;
  Dialect dialect = Dialect::nemo;
  std::string window = "11-44";
};

DerivedMetrics metrics_of(const NamedRun& run, std::optional<double> step_time_s,
                          std::optional<double> tflops = {}, double tokens = 1e12) {
  RunConfiguration configuration = parse_experiment_name(run.experiment);
  configuration.set("gpu_type", run.gpu_type, ConfigSource::llmb_config);
  const RunEvidence evidence{configuration, run.dialect, {}};
  const RecipeMatch match = match_recipe(embedded_catalog(), evidence);
  return derive_metrics(embedded_catalog(), evidence, match,
                        {run.window, step_time_s, tflops, tokens});
}

// Llama 3.1: "8192 * 64 / 5.74 = 91339", "1e12 / 91339 / 86400 = 126.72 days",
// "1636.8 / 4900 = 33.40%".
TEST(DerivedMetrics, ReproducesTheLlamaExamples) {
  const NamedRun run{"pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64",
                     "gb200", Dialect::megatron_bridge, "35-44"};
  const DerivedMetrics metrics = metrics_of(run, 5.74, 1636.8);
  EXPECT_NEAR(metrics.tokens_per_s.value.value(), 91339, 0.5);
  EXPECT_NEAR(metrics.tokens_per_s_per_gpu.value.value(), 91339.0 / 128, 0.01);
  EXPECT_NEAR(metrics.days_to_train.value.value(), 126.72, 0.005);
  EXPECT_NEAR(metrics.mfu_tflops_per_gpu.value.value(), 0.3340, 0.00005);
  EXPECT_EQ(metrics.mfu_tflops_per_gpu.inputs.at(1).source, "llama3.1-25.10, gb200 fp8");
  // Its document: "MFU = avg(TFLOPS_GPU) / (peak GPU FLOPS)".
  EXPECT_EQ(metrics.mfu.name, "mfu");
  EXPECT_EQ(metrics.mfu.value, metrics.mfu_tflops_per_gpu.value);
  EXPECT_NE(metrics.mfu_model_flops_reference.value, metrics.mfu.value);
  EXPECT_EQ(metrics.tokens_per_s.inputs.at(0).source, "llama3.1-25.10 line 24");
  EXPECT_EQ(metrics.tokens_per_s.inputs.at(1).source, "experiment_name");
  EXPECT_EQ(metrics.tokens_per_s.inputs.at(2).source, "window 35-44");
}

TEST(DerivedMetrics, HasTheMfuWhereEveryGpuThatMayBeTheRunsHasOnePeak) {
  const NamedRun unknown{"pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64",
                         "", Dialect::megatron_bridge, "35-44"};
  const DerivedMetrics metrics = metrics_of(unknown, 5.74, 1636.8);
  EXPECT_NEAR(metrics.mfu_tflops_per_gpu.value.value(), 0.3340, 0.00005);
  EXPECT_THAT(metrics.mfu_tflops_per_gpu.inputs.at(1).source,
              HasSubstr("as of every GPU whose recipes agree"));
  // Grok on 512 GPUs: GB200 or H100, whose peaks differ.
  const NamedRun ambiguous{"pretraining_grok1_314b_bf16_512_own", ""};
  EXPECT_THAT(metrics_of(ambiguous, 7.3).mfu_model_flops_reference.reason,
              HasSubstr("does not say its GPU type"));
}

TEST(RunMetrics, SayOfWhichRecipesARunMayBe) {
  const auto reason_of = [](const std::string& experiment) {
    const RunConfiguration configuration = parse_experiment_name(experiment);
    const RunEvidence evidence{configuration, Dialect::nemo, {}};
    const RecipeMatch match = match_recipe(embedded_catalog(), evidence);
    return measure_run(embedded_catalog(), evidence, match, {}, 1e12).reference_reason;
  };
  EXPECT_THAT(reason_of("pretraining_grok1_314b_bf16_512_own"),
              StartsWith("Several recipes agree"));
  EXPECT_THAT(reason_of("pretraining_grok1_314b_bf16_24_own"),
              StartsWith("The run is no recipe of the catalog. Nearest is"));
}

// Nemotron-4: "4096 * 256 / 2.693 = 389371", 29.7 days, 65.26 %.
TEST(DerivedMetrics, ReproducesTheNemotronExamples) {
  const NamedRun run{"pretrain_nemotron4_15b_bf16_64", "h100", Dialect::nemo, "49"};
  const DerivedMetrics metrics = metrics_of(run, 2.693);
  EXPECT_NEAR(metrics.tokens_per_s.value.value(), 389371, 0.5);
  EXPECT_NEAR(metrics.days_to_train.value.value(), 29.7, 0.05);
  EXPECT_NEAR(metrics.mfu_model_flops_reference.value.value(), 0.6526, 0.0001);
  EXPECT_EQ(metrics.mfu.value, metrics.mfu_model_flops_reference.value);
  // Grouped queries and causal attention make the same model cheaper.
  EXPECT_NEAR(metrics.mfu_causal.value.value(), 0.5485, 0.0002);
  EXPECT_FALSE(metrics.mfu_tflops_per_gpu.value);
  EXPECT_THAT(metrics.mfu_tflops_per_gpu.reason, HasSubstr("no TFLOPS per GPU"));
}

// Grok-1: "256 * 4.27E+15 / 6.631 / 128 / 4.9E+15 = 26.3%".
TEST(DerivedMetrics, ReproducesTheGrokExample) {
  const DerivedMetrics metrics = metrics_of({"pretrain_grok1_314b_fp8_128", "gb200"}, 6.631);
  EXPECT_NEAR(metrics.mfu_model_flops_reference.value.value(), 0.263, 0.0005);
}

// Maverick's example divides by 4.9E+15, the FP8 peak; its BF16 peak is 2.45 PFLOPS.
TEST(DerivedMetrics, TakesThePeakOfTheDtypeForMaverick) {
  const NamedRun run{"pretrain_llama4_maverick_400b_bf16_128", "gb200"};
  const DerivedMetrics metrics = metrics_of(run, 7.781);
  EXPECT_NEAR(metrics.mfu_model_flops_reference.value.value(), 0.3743, 0.0005);
  EXPECT_NEAR(metrics.mfu_causal.value.value(), metrics.mfu_model_flops_reference.value.value(),
              1e-12);
}

// "For proxy configs (<512 GPUs scales) we don't provide time to train estimates"; 45.4 % and
// 174544 tokens/s are of its table.
TEST(DerivedMetrics, GivesAProxyNoDaysToTrain) {
  const NamedRun run{"pretrain_grok1_314b_bf16_8", "h100", Dialect::nemo_progress_bar, "49"};
  const DerivedMetrics metrics = metrics_of(run, 24.03);
  EXPECT_NEAR(metrics.tokens_per_s.value.value(), 174544, 1);
  EXPECT_NEAR(metrics.mfu_model_flops_reference.value.value(), 0.454, 0.0005);
  EXPECT_FALSE(metrics.days_to_train.value);
  EXPECT_THAT(metrics.days_to_train.reason, HasSubstr("proxy"));
}

TEST(DerivedMetrics, TakesAnyNumberOfTokens) {
  const NamedRun run{"pretrain_nemotron4_15b_bf16_64", "h100", Dialect::nemo, "49"};
  const double one = metrics_of(run, 2.693).days_to_train.value.value();
  const double fifteen = metrics_of(run, 2.693, {}, 15e12).days_to_train.value.value();
  EXPECT_NEAR(fifteen / one, 15, 1e-9);
}

TEST(DerivedMetrics, TakesThePrintedRateWhereNothingElseGivesIt) {
  RunConfiguration configuration;
  const RunEvidence evidence{configuration, Dialect::automodel, {}};
  const RecipeMatch match = match_recipe(embedded_catalog(), evidence);
  RunMeasurement measurement;
  measurement.window = "11-44";
  measurement.printed_tokens_per_s_per_gpu = 1543.25;
  const DerivedMetrics metrics = derive_metrics(embedded_catalog(), evidence, match, measurement);
  EXPECT_EQ(metrics.tokens_per_s_per_gpu.value, 1543.25);
  EXPECT_EQ(metrics.tokens_per_s_per_gpu.formula, kPrintedRateFormula);
  EXPECT_EQ(metrics.tokens_per_s_per_gpu.inputs.at(0).source, "window 11-44");
  EXPECT_FALSE(metrics.tokens_per_s.value);
  const NamedRun known{"pretrain_nemotron4_15b_bf16_64", "h100", Dialect::nemo, "49"};
  EXPECT_NE(metrics_of(known, 2.693).tokens_per_s_per_gpu.formula, kPrintedRateFormula);
}

TEST(DerivedMetrics, TellsTheEnergyOfAToken) {
  const NamedRun run{"pretrain_nemotron4_15b_bf16_64", "h100", Dialect::nemo, "49"};
  EXPECT_FALSE(metrics_of(run, 2.693).energy_j_per_token.value);
  EXPECT_THAT(metrics_of(run, 2.693).energy_j_per_token.reason, HasSubstr("no energy per GPU"));
  RunConfiguration configuration;
  configuration.set("gpu_count", "64", ConfigSource::llmb_config);
  configuration.set("sequence_length", "4096", ConfigSource::llmb_config);
  const RunEvidence evidence{configuration, Dialect::megatron_lm, 256};
  const RecipeMatch match = match_recipe(embedded_catalog(), evidence);
  RunMeasurement measurement;
  measurement.window = "35-44";
  measurement.energy_j_per_gpu_mean = 2048.0;
  const Metric metric =
      derive_metrics(embedded_catalog(), evidence, match, measurement).energy_j_per_token;
  EXPECT_EQ(metric.reason, "");
  EXPECT_EQ(metric.value, 2048.0 * 64 / (4096 * 256));
  EXPECT_EQ(metric.unit, "J/token");
  EXPECT_EQ(metric.inputs.at(0).source, "window 35-44");
}

TEST(DerivedMetrics, SaysWhyThereIsNoValue) {
  const DerivedMetrics unknown = metrics_of({"pretrain_deepseek_v3_671b_bf16_256", "h100"}, 5.0);
  EXPECT_FALSE(unknown.tokens_per_s.value);
  EXPECT_THAT(unknown.tokens_per_s.reason, HasSubstr("The catalog has no workload"));
  EXPECT_THAT(unknown.mfu_causal.reason, HasSubstr("batch size"));
  const DerivedMetrics no_steps = metrics_of({"pretrain_nemotron4_15b_bf16_64", "h100"}, {});
  EXPECT_THAT(no_steps.tokens_per_s.reason, HasSubstr("no step time in its window 11-44"));
  // The name alone says no GPU type, and two of them have rows of this kind.
  const NamedRun unclear{"pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64",
                         "", Dialect::megatron_bridge, "35-44"};
  const DerivedMetrics metrics = metrics_of(unclear, 5.74, 1636.8);
  EXPECT_NEAR(metrics.tokens_per_s.value.value(), 91339, 0.5);
  EXPECT_FALSE(metrics.energy_j_per_token.value);
  for (const Metric* metric : metrics.all()) {
    EXPECT_EQ(metric->value.has_value(), metric->reason.empty()) << metric->name;
    EXPECT_FALSE(metric->formula.empty());
  }
}

}  // namespace
}  // namespace llmb::parser
