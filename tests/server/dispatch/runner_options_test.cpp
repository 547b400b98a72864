// What a submission sets of llmb-step-runner's options, and what the job's record says of it.
#include "server/dispatch/runner_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/layout/llmb_config.h"
#include "server/dispatch/batch_script.h"
#include "server/dispatch/runner_option_table.h"
#include "tests/server/dispatch/shell_launch.h"

namespace llmb::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string config_of(const Plan& plan) {
  return batch_script(plan, launch_settings(), recorded_launch("llmb-0", "x_1750000000"));
}

TEST(RunnerOptions, AreWholeNumbersOrTrueAndFalse) {
  EXPECT_EQ(*parse_runner_option("num-layers", "2"), 2);
  EXPECT_EQ(*parse_runner_option("cuda-graphs", "true"), 1);
  EXPECT_EQ(*parse_runner_option("cuda-graphs", "false"), 0);
  EXPECT_EQ(parse_runner_option("cuda-graphs", "1").error().message,
            "cuda-graphs is true or false, not '1'");
  EXPECT_THAT(parse_runner_option("num-layers", "true").error().message,
              HasSubstr("needs a whole number"));
}

// llama3.1, column CG; llama4_maverick: "The FP8 Precision Run on H100 was run with CUDA Graphs
// enabled".
TEST(CudaGraphs, OfAnInstalledRecipeAreThoseOfTheDocument) {
  Submission recipe;
  recipe.launcher = "recipe";
  ClusterSettings settings = launch_settings();
  settings.launch_scripts = {{"pretrain_llama3.1", "/opt/launch.sh"},
                             {"pretrain_llama4_maverick", "/opt/launch.sh"}};
  const auto planned = [&](const std::string& workload, const Environment& shell) {
    settings.launch_environment = shell;
    recipe.workload = workload;
    return plan_submission(recipe, settings, parser::embedded_catalog(), kLaunchRunner);
  };
  const auto small = planned("pretrain_llama3.1",
                             {{"MODEL_SIZE", "8b"}, {"JOB_TOTAL_GPUS", "8"}, {"GPU_TYPE", "h100"}});
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(origin_of(*small, "cuda_graphs"), "true by the document");
  EXPECT_THAT(config_of(*small), HasSubstr("  cuda_graphs: true\n"));
  Environment maverick = {{"JOB_TOTAL_GPUS", "512"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "h100"}};
  EXPECT_EQ(planned("pretrain_llama4_maverick", maverick)->cuda_graphs, true);
  maverick["DTYPE"] = "bf16";
  EXPECT_EQ(planned("pretrain_llama4_maverick", maverick)->cuda_graphs, std::nullopt);
}

TEST(CudaGraphs, OfTheRunnerAreThoseThatItIsAskedFor) {
  const Environment shell = {{"MODEL_SIZE", "8b"}, {"JOB_TOTAL_GPUS", "8"}, {"GPU_TYPE", "h100"}};
  const auto without = plan_launch("pretrain_llama3.1", shell);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(origin_of(*without, "cuda_graphs"), "false by llmb-step-runner's default");
  EXPECT_THAT(config_of(*without), HasSubstr("  cuda_graphs: false\n"));
  EXPECT_THAT(without->program_arguments, Not(Contains(HasSubstr("cuda-graphs"))));
  Submission flags;
  flags.runner_options = {{"cuda-graphs", 1}};
  const auto with = plan_launch("pretrain_llama3.1", shell, flags);
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(origin_of(*with, "cuda_graphs"), "true by asked for");
  EXPECT_THAT(config_of(*with), HasSubstr("  cuda_graphs: true\n"));
  EXPECT_THAT(config_of(*with), HasSubstr("cuda-graphs: 'true'\n"));
  EXPECT_THAT(with->program_arguments, Contains("--cuda-graphs=true"));
  flags.runner_options = {{"recompute-layers", 0}};
  const auto kept = plan_launch("pretrain_llama3.1", shell, flags);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_THAT(kept->program_arguments, Contains("--recompute-layers=0"));
  const auto config = parser::parse_llmb_config("job_config:\n  cuda_graphs: true\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->configuration.value("cuda_graphs"), "true");
}

}  // namespace
}  // namespace llmb::dispatch
