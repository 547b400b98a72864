// What a submission leaves open, and what the plan says of it: defaults with their origin, the
// steps of a profile, the checkpoint to load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "server/dispatch/plan_submission.h"
#include "tests/server/dispatch/shell_launch.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// grok1: "Optional: DTYPE", without a default; llama4: "Optional: GPU_TYPE", likewise.
TEST(LaunchVariables, ThatAreOptionalMayBeLeftOut) {
  const auto grok = plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}});
  ASSERT_TRUE(grok) << grok.error().message;
  EXPECT_EQ(origin_of(*grok, "dtype"), "bf16 by no document has a default: as llmb-step-runner");
  // A launch.sh has a default of its own, which no document states.
  Submission recipe;
  recipe.launcher = "recipe";
  EXPECT_THAT(plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}}, recipe).error().message,
              AllOf(HasSubstr("the precision is missing (--dtype, DTYPE)"),
                    HasSubstr("there are: bf16, fp8")));
  const auto maverick = plan_launch("pretrain_llama4_maverick", {{"JOB_TOTAL_GPUS", "128"}});
  ASSERT_TRUE(maverick) << maverick.error().message;
  EXPECT_EQ(origin_of(*maverick, "gpu_type"), "gb200 by the only one with a recipe at this scale");
}

// GB200's nodes have 4 GPUs in the documents: 128 are 32 nodes, whatever Slurm is asked for.
TEST(GpusOfANode, ThatSlurmIsAskedForAreNotedWhereTheJobUsesFewer) {
  const Environment shell = {{"JOB_TOTAL_GPUS", "128"}};
  Submission flags;
  flags.slurm = {{"gpus-per-node", "8"}};
  const auto more = plan_launch("pretrain_grok1", shell, flags);
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->nodes, 32);
  EXPECT_THAT(more->notes,
              Contains(HasSubstr("asked for 8 GPUs of each node, and the job uses 4")));
  flags.slurm = {{"gpus-per-node", "4"}};
  EXPECT_THAT(plan_launch("pretrain_grok1", shell, flags)->notes,
              testing::Not(Contains(HasSubstr("GPUs of each node"))));
}

// grok1-25.05: "GPU_TYPE (default: gb200)"; only grok1-24.11, on H100, has 64, 1024 and 2048 GPUs.
TEST(LaunchVariables, LeaveTheDefaultGpuWhereOnlyAnotherHasTheScale) {
  const auto planned_for = [](const char* scale, const char* dtype) {
    return plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", scale}, {"DTYPE", dtype}});
  };
  for (const auto& [scale, dtype] :
       {std::pair{"1024", "fp8"}, std::pair{"2048", "bf16"}, std::pair{"64", "bf16"}}) {
    const auto plan = planned_for(scale, dtype);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->document, "grok1-24.11");
    EXPECT_EQ(origin_of(*plan, "gpu_type"), "h100 by the only one with a recipe at this scale");
    EXPECT_THAT(plan->notes, Contains(HasSubstr("gb200, has no recipe of " + std::string(scale))));
  }
  // The default has these, or nobody has.
  EXPECT_EQ(origin_of(*planned_for("512", "fp8"), "gpu_type"), "gb200 by the document's default");
  EXPECT_THAT(planned_for("96", "fp8").error().message, HasSubstr("on gb200 has 96 GPUs"));
  // Asked for is asked for.
  EXPECT_FALSE(plan_launch("pretrain_grok1",
                           {{"JOB_TOTAL_GPUS", "1024"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "gb200"}}));
}

TEST(LaunchVariables, ThatAreMissingAreNamedWithTheirOption) {
  EXPECT_THAT(plan_launch("pretrain_llama4_maverick", {{"JOB_TOTAL_GPUS", "512"}}).error().message,
              AllOf(HasSubstr("(--gpu-type, GPU_TYPE)"), HasSubstr("at this scale"),
                    HasSubstr("gb200, h100")));
  EXPECT_THAT(plan_launch("pretrain_nemotron4", {{"JOB_TOTAL_GPUS", "16"}}).error().message,
              AllOf(HasSubstr("(--model-size, MODEL_SIZE)"), HasSubstr("15b, 340b")));
  EXPECT_THAT(
      plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp9"}}).error().message,
      HasSubstr("'fp9' (--dtype, DTYPE)"));
}

// grok1, llama3.1, llama4: "START_STEP: … Default: 45", "STOP_STEP: … Default: 50"; nemotron4: 20
// and 25, and "The job will run for 25 steps".
TEST(Profiling, NamesTheStepsThatItMeasures) {
  Environment grok = {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}, {"ENABLE_PROFILE", "true"}};
  const auto usual = plan_launch("pretrain_grok1", grok);
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(origin_of(*usual, "steps"), "50 by the document's default");
  EXPECT_EQ(origin_of(*usual, "profile_start_step"), "45 by the document's default");
  EXPECT_EQ(origin_of(*usual, "profile_stop_step"), "50 by the document's default");
  EXPECT_FALSE(usual->environment.contains("RUN_CONF_PROFILE_START_STEP"));
  const auto nemotron = plan_launch("pretrain_nemotron4", {{"JOB_TOTAL_GPUS", "64"},
                                                           {"DTYPE", "bf16"},
                                                           {"MODEL_SIZE", "15b"},
                                                           {"ENABLE_PROFILE", "true"}});
  ASSERT_TRUE(nemotron) << nemotron.error().message;
  EXPECT_EQ(origin_of(*nemotron, "steps"), "25 by the document's default");
  EXPECT_EQ(origin_of(*nemotron, "profile_start_step"), "20 by the document's default");
  EXPECT_EQ(origin_of(*nemotron, "profile_stop_step"), "25 by the document's default");
  grok["RUN_CONF_PROFILE_STOP_STEP"] = "30";
  Submission longer;
  longer.runner_options = {{"steps", 100}};
  const auto asked = plan_launch("pretrain_grok1", grok, longer);
  EXPECT_EQ(origin_of(*asked, "steps"), "100 by asked for");
  EXPECT_EQ(origin_of(*asked, "profile_start_step"), "25 by five steps before it stops");
  EXPECT_EQ(origin_of(*asked, "profile_stop_step"),
            "30 by RUN_CONF_PROFILE_STOP_STEP of the shell");
  grok.erase("RUN_CONF_PROFILE_STOP_STEP");
  EXPECT_EQ(origin_of(*plan_launch("pretrain_grok1", grok, longer), "profile_start_step"),
            "95 by the last of the job's steps");
  grok.erase("ENABLE_PROFILE");
  EXPECT_EQ(origin_of(*plan_launch("pretrain_grok1", grok), "profile_start_step"), "nothing");
}

// nemotron4: "The job will run for a total of 25 steps where steps 20-25 will be profiled"; grok1
// and llama4_maverick: 50.
TEST(Profiling, IsRefusedOutsideTheRun) {
  struct Case {
    std::string workload;
    Environment shell;
    std::vector<std::string> says;
  };
  const Environment nemotron = {
      {"JOB_TOTAL_GPUS", "16"}, {"DTYPE", "bf16"}, {"MODEL_SIZE", "15b"}, {"ENABLE_PROFILE", "1"}};
  const Environment others = {
      {"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "gb200"}, {"ENABLE_PROFILE", "1"}};
  const auto with = [](Environment shell, const Environment& more) {
    shell.insert(more.begin(), more.end());
    return shell;
  };
  for (const Case& outside : std::vector<Case>{
           {"pretrain_nemotron4",
            with(nemotron, {{"PROFILE_START_STEP", "30"}, {"PROFILE_STOP_STEP", "35"}}),
            {"from step 30 (PROFILE_START_STEP of the shell) to step 35",
             "of a run of 25 steps "
             "(the document's default)"}},
           {"pretrain_llama4_maverick",
            with(others, {{"PROFILE_START_STEP", "60"}, {"PROFILE_STOP_STEP", "70"}}),
            {"of a run of 50 steps"}},
           {"pretrain_grok1",
            with(others, {{"RUN_CONF_PROFILE_START_STEP", "50"}}),
            {"to step 50 (the document's default)"}},
           {"pretrain_nemotron4",
            with(nemotron, {{"PROFILE_START_STEP", "25"}}),
            {"to step 25 (the document's default)"}},
           {"pretrain_nemotron4",
            with(nemotron, {{"PROFILE_START_STEP", "3"}, {"LOAD_CHECKPOINT_PATH", "/none"}}),
            {"of a run of 1 step (one step after a checkpoint is loaded)"}}}) {
    for (const char* const launcher : {"runner", "recipe"}) {
      Submission flags;
      flags.launcher = launcher;
      ClusterSettings installed = launch_settings();
      installed.launch_scripts["pretrain_llama4_maverick"] = "/opt/llmb/llama4/launch.sh";
      installed.launch_environment = outside.shell;
      flags.workload = outside.workload;
      const auto refused =
          plan_submission(flags, installed, parser::embedded_catalog(), kLaunchRunner);
      ASSERT_FALSE(refused) << launcher << ": " << outside.says.front();
      for (const std::string& words : outside.says) {
        EXPECT_THAT(refused.error().message, HasSubstr(words)) << launcher;
      }
    }
  }
}

TEST(Profiling, IsAllowedToTheEndOfALongerRun) {
  const Environment shell = {{"JOB_TOTAL_GPUS", "128"},
                             {"DTYPE", "fp8"},
                             {"ENABLE_PROFILE", "true"},
                             {"RUN_CONF_PROFILE_START_STEP", "50"}};
  Submission longer;
  longer.runner_options = {{"steps", 60}};
  EXPECT_EQ(origin_of(*plan_launch("pretrain_grok1", shell, longer), "profile_stop_step"),
            "60 by the last of the job's steps");
  Environment unprofiled = shell;
  unprofiled.erase("ENABLE_PROFILE");
  EXPECT_TRUE(plan_launch("pretrain_grok1", unprofiled)) << "it is said to have no effect";
}

// A launch.sh has the two defaults of its document, whatever the other one is set to.
TEST(Profiling, OfARecipeHasTheStepsOfItsDocument) {
  Environment shell = {{"JOB_TOTAL_GPUS", "128"},
                       {"DTYPE", "fp8"},
                       {"ENABLE_PROFILE", "true"},
                       {"RUN_CONF_PROFILE_STOP_STEP", "30"}};
  Submission recipe;
  recipe.launcher = "recipe";
  EXPECT_THAT(plan_launch("pretrain_grok1", shell, recipe).error().message,
              HasSubstr("from step 45 (the document's default) to step 30 "));
  EXPECT_EQ(origin_of(*plan_launch("pretrain_grok1", shell), "profile_start_step"),
            "25 by five steps before it stops");
  shell["RUN_CONF_PROFILE_START_STEP"] = "60";
  shell["RUN_CONF_PROFILE_STOP_STEP"] = "70";
  recipe.environment = {{"MAX_STEPS", "100"}};
  const auto longer = plan_launch("pretrain_grok1", shell, recipe);
  ASSERT_TRUE(longer) << longer.error().message;
  EXPECT_EQ(origin_of(*longer, "steps"), "100 by MAX_STEPS");
}

TEST(Checkpoints, ThatAreLoadedAreMeasured) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "iteration_50");
  std::ofstream(folder.path() / "latest") << "iteration_50\n";
  std::ofstream(folder.path() / "iteration_50" / "manifest.json") << std::string(1'000'000, ' ');
  std::ofstream(folder.path() / "iteration_50" / "rank_0.shard") << std::string(4'000'000, 'x');
  const auto planned =
      plan_launch("pretrain_nemotron4", {{"DTYPE", "bf16"},
                                         {"MODEL_SIZE", "15b"},
                                         {"JOB_TOTAL_GPUS", "64"},
                                         {"LOAD_CHECKPOINT_PATH", folder.path().string()}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_THAT(planned->notes,
              ElementsAre(AllOf(HasSubstr(folder.path().string()), HasSubstr("has 5.0 MB"))));
}

}  // namespace
}  // namespace llmb::dispatch
