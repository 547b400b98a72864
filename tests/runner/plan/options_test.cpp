#include "runner/plan/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Options, ReadsLlmbRunsFlags) {
  const ParsedOptions parsed = parse_options({"-w",
                                              "pretrain_grok1",
                                              "-s",
                                              "314b",
                                              "--dtype",
                                              "fp8",
                                              "--scale",
                                              "512",
                                              "--gpu-type",
                                              "h100",
                                              "--num-layers",
                                              "2",
                                              "--tp",
                                              "4",
                                              "--backend",
                                              "cpu",
                                              "--log-format",
                                              "megatron-bridge",
                                              "--flops-formula",
                                              "recipe",
                                              "--dry-run"},
                                             {});
  ASSERT_FALSE(parsed.exit_code) << parsed.text;
  const Options& options = parsed.options;
  EXPECT_EQ(options.workload, "pretrain_grok1");
  EXPECT_EQ(options.model_size, "314b");
  EXPECT_EQ(options.dtype, "fp8");
  EXPECT_EQ(options.scale, 512);
  EXPECT_EQ(options.shape.layer_count, 2);
  EXPECT_EQ(options.tp, 4);
  EXPECT_EQ(options.pp, std::nullopt);
  EXPECT_EQ(options.backend, Backend::cpu);
  EXPECT_EQ(options.log_format, LogFormat::megatron_bridge);
  EXPECT_EQ(options.flops_formula, parser::FlopsFormula::recipe);
  EXPECT_TRUE(options.dry_run);
}

TEST(Options, ReadsTheRecipesVariablesAndLetsFlagsOutrankThem) {
  const Environment environment = {{"JOB_TOTAL_GPUS", "256"},
                                   {"DTYPE", "fp8"},
                                   {"MODEL_SIZE", "314b"},
                                   {"GPU_TYPE", "gb200"},
                                   {"ENABLE_PROFILE", "true"},
                                   {"RUN_CONF_PROFILE_START_STEP", "20"},
                                   {"ENABLE_NCCLTRACE", ""},
                                   {"ENABLE_CHECKPOINT", "false"},
                                   {"LOAD_CHECKPOINT_PATH", "saved/step 50"}};
  const ParsedOptions parsed = parse_options({"--dtype", "bf16"}, environment);
  ASSERT_FALSE(parsed.exit_code) << parsed.text;
  EXPECT_EQ(parsed.options.scale, 256);
  EXPECT_EQ(parsed.options.dtype, "bf16");
  EXPECT_EQ(parsed.options.gpu_type, "gb200");
  EXPECT_TRUE(parsed.options.enable_profile);
  EXPECT_EQ(parsed.options.profile_start_step, 20);
  EXPECT_FALSE(parsed.options.enable_nccl_trace);
  EXPECT_FALSE(parsed.options.enable_checkpoint);
  EXPECT_EQ(parsed.options.load_checkpoint_path, "saved/step 50");
}

// Llama 4's and Nemotron-4's documents name the profiler's steps so.
TEST(Options, ReadsBothSpellingsOfTheProfiledSteps) {
  const ParsedOptions parsed = parse_options(
      {}, {{"PROFILE_START_STEP", "10"}, {"PROFILE_STOP_STEP", "12"}, {"ENABLE_PROFILE", "true"}});
  ASSERT_FALSE(parsed.exit_code) << parsed.text;
  EXPECT_TRUE(parsed.options.enable_profile);
  EXPECT_EQ(parsed.options.profile_start_step, 10);
  EXPECT_EQ(parsed.options.profile_stop_step, 12);
  const ParsedOptions both =
      parse_options({}, {{"PROFILE_START_STEP", "10"}, {"RUN_CONF_PROFILE_START_STEP", "20"}});
  EXPECT_EQ(both.options.profile_start_step, 20);
}

TEST(Options, NamesVariablesThatHaveNoEffect) {
  const ParsedOptions parsed =
      parse_options({}, {{"ENABLE_GPU_METRICS", "true"}, {"RUN_CONF_PROFILE_RANKS", ""}});
  EXPECT_THAT(parsed.options.variables_without_effect, testing::ElementsAre("ENABLE_GPU_METRICS"));
}

TEST(Options, VersionNamesTheBackends) {
  const ParsedOptions parsed = parse_options({"--version"}, {});
  EXPECT_EQ(parsed.exit_code, kExitOk);
  EXPECT_THAT(parsed.text,
              testing::MatchesRegex("llmb-step-runner [0-9.]+\nbackends: cpu( cuda)?\n"));
}

TEST(Options, RefusesAnUnknownFlagWithTheNearestOne) {
  const ParsedOptions parsed = parse_options({"--scael", "8"}, {});
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.text, HasSubstr("--scael"));
  EXPECT_THAT(parsed.text, HasSubstr("Did you mean --scale?"));
}

TEST(Options, SaysThatAWrongValueCameFromTheEnvironment) {
  const ParsedOptions parsed = parse_options({}, {{"JOB_TOTAL_GPUS", "many"}});
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.text, HasSubstr("--scale=many comes from the environment"));
}

TEST(Options, HelpShowsExamplesAndVariables) {
  const ParsedOptions parsed = parse_options({"--help"}, {});
  EXPECT_EQ(parsed.exit_code, kExitOk);
  EXPECT_THAT(parsed.text, HasSubstr("JOB_TOTAL_GPUS"));
  EXPECT_THAT(parsed.text, HasSubstr("--backend cpu --virtual-ranks 8"));
  EXPECT_THAT(parsed.text, HasSubstr("{cuda,cpu}"));
  EXPECT_THAT(parsed.text, Not(HasSubstr("->")));
}

}  // namespace
}  // namespace llmb::runner
