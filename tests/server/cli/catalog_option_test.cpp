// The program with the catalog: parse --metrics, --catalog and audit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kNemotron = "pretrain_nemotron4_15b_bf16_64";

// Two and three seconds by turns: the last step, 49, takes three.
TEST(ParseMetrics, ShowsTheRecipeAndItsNumbers) {
  const TemporaryFolder folder;
  folder.write(experiment_log_path(kNemotron, 7), nemo_log(49));
  ProgramOptions options;
  options.folder = folder.path();
  const auto table = run_program({"parse", "--metrics"}, options);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("Tokens/s/GPU"));
  EXPECT_THAT(table.out, HasSubstr("5461.3"));  // 4096 * 256 / 3 / 64
  EXPECT_THAT(table.out, HasSubstr("349525"));  // 4096 * 256 / 3
  EXPECT_THAT(table.out, HasSubstr("33.11"));   // 1e12 / 349525.3 / 86400
  EXPECT_THAT(table.out, HasSubstr("model FLOPs"));
  EXPECT_THAT(run_program({"parse"}, options).out, Not(HasSubstr("Tokens/s/GPU")));
  const auto csv = run_program({"parse", "--metrics", "--format", "csv"}, options);
  EXPECT_THAT(csv.out, HasSubstr(",tokens_per_s,days_to_train,mfu,mfu_formula,marks,workload,"));
  EXPECT_THAT(csv.out, HasSubstr(",349525.3333333333,33.11"));

  const auto json = run_program({"parse", "--metrics", "--format", "json"}, options);
  const auto metrics = nlohmann::json::parse(json.out)["runs"][0]["run_metrics"];
  EXPECT_EQ(metrics["window"], "49-49");
  EXPECT_EQ(metrics["recipe_match"]["outcome"], "matched");
  EXPECT_EQ(metrics["reference"]["step_time_s"], 2.67);
  const auto asked =
      run_program({"parse", "--metrics", "--format", "json", "--window", "20-29"}, options);
  const auto window = nlohmann::json::parse(asked.out)["runs"][0]["run_metrics"];
  EXPECT_EQ(window["window"], "20-29");
  EXPECT_EQ(window["step_time_s_mean"], 2.5);
}

TEST(ParseMetrics, TakesTheGpuInCapitals) {
  const TemporaryFolder folder;
  folder.write(experiment_log_path(kNemotron, 7), nemo_log(49));
  ProgramOptions options;
  options.folder = folder.path();
  const auto json =
      run_program({"parse", "--metrics", "--gpu-type", "H100", "--format", "json"}, options);
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)["runs"][0]["gpu_type"], "h100");
}

// Llama 3.1's document, "MFU = avg(TFLOPS_GPU) / (peak GPU FLOPS)": 700 / 4900 on a GB200 in FP8.
TEST(ParseMetrics, TakesTheMfuOfTheRunsOwnDocument) {
  const TemporaryFolder folder;
  const std::string name = "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
  folder.write(experiment_log_path(name, 7), megatron_bridge_log(50));
  folder.write(experiment_log_path(name, 7).substr(0, experiment_log_path(name, 7).rfind('/')) +
                   "/llmb-config_7.yaml",
               "model_info:\n  gpu_type: gb200\n");
  ProgramOptions options;
  options.folder = folder.path();
  const auto csv = run_program({"parse", "--metrics", "--format", "csv"}, options);
  EXPECT_THAT(csv.out, HasSubstr(",tflops_per_gpu_mean * 1e12 / peak_flop_per_s,"));
  const auto table = run_program({"parse", "--metrics"}, options);
  EXPECT_THAT(table.out, HasSubstr("14.29")) << csv.out;
}

// Without metrics too: the recipe says which steps count, and --window what is wanted instead.
TEST(ParseWindow, IsThatOfTheRecipeUnlessAskedOtherwise) {
  const TemporaryFolder folder;
  folder.write(experiment_log_path(kNemotron, 7), nemo_log(49));
  ProgramOptions options;
  options.folder = folder.path();
  const auto parse = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"parse", "--format", "json"});
    return nlohmann::json::parse(run_program(arguments, options).out)["runs"][0];
  };
  const auto own = parse({});
  EXPECT_EQ(own["window"], "49-49");
  EXPECT_EQ(own["window_source"], "nemotron4-25.04");
  EXPECT_EQ(own["status"], "complete");
  EXPECT_EQ(own["step_time_s_mean"], 3);
  EXPECT_EQ(parse({"--window", "11-44"})["window_source"], "asked for");
  EXPECT_EQ(parse({"--window", "11-44"})["step_time_s_mean"], 2.5);

  // The same configuration, launched by a release that averages steps; and one of no recipe.
  const std::string launch = experiment_log_path(kNemotron, 7);
  folder.write(launch.substr(0, launch.rfind('/') + 1) + "llmb-config_7.yaml",
               "workload_info:\n  gsw_version: '25.08'\n");
  const auto later = parse({});
  EXPECT_EQ(later["window"], "35-44");
  EXPECT_EQ(later["window_source"], "release 25.08");
  EXPECT_EQ(parse({"--window", "last"})["window"], "49-49");
  const auto refused = run_program({"parse", "--window", "first"}, options);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("or last for the last step"));
}

TEST(ParseMetrics, RefusesABadCatalogWithFileAndLine) {
  const TemporaryFolder folder;
  folder.write(experiment_log_path(kNemotron, 7), nemo_log(49));
  folder.write("mine.json", "{\"schema_version\": 1,\n \"gpu\": []}");
  ProgramOptions options;
  options.folder = folder.path();
  const auto run = run_program({"parse", "--metrics", "--catalog", "mine.json"}, options);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("mine.json:2: unknown key 'gpu'; allowed here:"));
  EXPECT_EQ(run_program({"parse", "--catalog", "mine.json"}, options).exit_code, 2);
  const auto missing = run_program({"audit", "--catalog", "none.json"}, options);
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
}

TEST(AuditCommand, PrintsFindingsAsTableAndJson) {
  const ProgramOptions options;
  const auto table = run_program({"audit", "--document", "grok1-25.05"}, options);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("peak_tflops printed 49, recomputed 4900 (-99 %), unit_slip"));
  EXPECT_THAT(table.out, HasSubstr("tokens_per_s printed 572679, recomputed 1145359 (-50 %)"));
  const auto every = run_program({"audit", "--all"}, options);
  EXPECT_THAT(every.out,
              HasSubstr("Of the tables and results of other releases, earlier and later:\n"));
  EXPECT_THAT(every.out, HasSubstr("\nOther releases: "));
  EXPECT_THAT(every.out, Not(HasSubstr("line 0")));
  EXPECT_THAT(every.out, Not(HasSubstr("e+0")));
  EXPECT_THAT(every.out, HasSubstr("(+1500 %)"));
  const auto all =
      nlohmann::json::parse(run_program({"audit", "--all", "--format", "json"}, options).out);
  EXPECT_GT(all["other_releases"]["figures_checked"], 0);
  const auto documents =
      nlohmann::json::parse(run_program({"audit", "--format", "json"}, options).out);
  EXPECT_GT(all["figures_checked"], documents["figures_checked"]);
  EXPECT_EQ(documents["unchecked"].size(), 0U);
  const auto unknown = run_program({"audit", "--document", "x"}, options);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("nemotron4-25.04"));
}

}  // namespace
}  // namespace llmb::cli
