// Of two sources of one value which counts, and what is said of the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/dispatch/shell_launch.h"

namespace llmb::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

TEST(LaunchVariables, AreNamedWhereAnotherSourceOutranksThem) {
  Submission flags;
  flags.scale = 128;
  flags.environment = {{"JOB_TOTAL_GPUS", "256"}, {"ENABLE_PROFILE", "false"}};
  const auto planned = plan_launch("pretrain_grok1",
                                   {{"JOB_TOTAL_GPUS", "128"},
                                    {"DTYPE", "FP8"},
                                    {"ENABLE_PROFILE", "true"},
                                    {"RUN_CONF_PROFILE_START_STEP", "10"},
                                    {"PROFILE_START_STEP", "12"},
                                    {"MAX_STEPS", "5"}},
                                   flags);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_FALSE(planned->submission.profile);
  EXPECT_THAT(
      planned->notes,
      IsSupersetOf(
          {"JOB_TOTAL_GPUS of the job's variables ('256') has no effect: scale is 128 (asked for)",
           "ENABLE_PROFILE of the shell ('true') has no effect: profile is false (ENABLE_PROFILE "
           "of the job's variables)",
           "PROFILE_START_STEP of the shell ('12') has no effect: profile_start_step is 10 "
           "(RUN_CONF_PROFILE_START_STEP of the shell)",
           "MAX_STEPS has no effect: the launcher 'runner' takes the number of steps from --set "
           "steps=N"}));
  EXPECT_THAT(planned->notes, Not(Contains(HasSubstr("JOB_TOTAL_GPUS of the shell"))))
      << "it says the same";
  flags.launcher = "recipe";
  const auto recipe = plan_launch("pretrain_grok1", {{"DTYPE", "fp8"}, {"MAX_STEPS", "5"}}, flags);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_THAT(recipe->notes,
              Contains("MAX_STEPS of the shell has no effect: a job gets it by --env only"));
}

}  // namespace
}  // namespace llmb::dispatch
