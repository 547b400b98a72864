#include "parser/statistics/unknown_profile.h"

#include <gtest/gtest.h>

#include <string>

namespace llmb::parser {
namespace {

RunSummary told(const std::string& interruptions, bool is_profiled,
                const StepInterruptionSet& without) {
  RunSummary summary;
  summary.status_reason = "as it was";
  summary.window_interruptions = interruptions;
  tell_unknown_profile(summary, is_profiled, without);
  return summary;
}

TEST(UnknownProfile, IsToldWhereItIsAskedForAndNoStepIsKnown) {
  const StepInterruptionSet profile = {StepInterruption::profile};
  const RunSummary summary = told("checkpoint: 20", true, profile);
  EXPECT_EQ(summary.status_reason,
            "as it was; profiled, and no line tells of a profiled step of the window: none is left "
            "out for it");
  EXPECT_TRUE(unknown_profile_words(summary).starts_with("profiled, and"));
  EXPECT_EQ(told("", false, profile).status_reason, "as it was");
  EXPECT_EQ(told("", true, {StepInterruption::checkpoint}).status_reason, "as it was");
  EXPECT_EQ(told("checkpoint: 20; profile: 21", true, profile).status_reason, "as it was");
  EXPECT_EQ(unknown_profile_words(told("", false, profile)), "");
}

}  // namespace
}  // namespace llmb::parser
