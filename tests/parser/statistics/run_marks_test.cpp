// Which runs are marked as no performance result, and why.
#include "parser/statistics/run_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<RunMarkReason> marks_with(const DerivedMetrics& metrics) {
  RunSummary summary;
  summary.status = RunStatus::complete;
  summary.step_time_s = WindowStatistics{};
  const RunConfiguration configuration;
  return marks_of({.summary = summary, .configuration = configuration, .metrics = &metrics});
}

TEST(RunMarks, SayWhereAProfilerIsToldOf) {
  RunSummary summary;
  summary.status = RunStatus::complete;
  RunConfiguration configuration;
  configuration.set("profile_enabled", "true", ConfigSource::experiment_name);
  const auto marks = marks_of({.summary = summary, .configuration = configuration});
  ASSERT_FALSE(marks.empty());
  EXPECT_EQ(marks.front().mark, RunMark::profiled);
  EXPECT_NE(marks.front().reason.find("its name or configuration says so"), std::string::npos);
}

TEST(RunMarks, MoreThanTheGpuCanDoIsImplausible) {
  DerivedMetrics logged;
  logged.mfu_tflops_per_gpu.value = 1.072;
  const auto by_log = marks_with(logged);
  ASSERT_EQ(by_log.size(), 1U);
  EXPECT_EQ(by_log[0].mark, RunMark::implausible);
  EXPECT_THAT(by_log[0].reason, HasSubstr("107.2 % of its peak, as the logged TFLOPS"));
  EXPECT_THAT(exclusion_reason(by_log, {}), HasSubstr("107.2 %"));
  EXPECT_THAT(exclusion_reason(by_log, {RunMark::implausible}), IsEmpty());

  DerivedMetrics timed;
  timed.mfu_causal.value = 2.5;
  const auto by_time = marks_with(timed);
  ASSERT_EQ(by_time.size(), 1U);
  EXPECT_THAT(by_time[0].reason, HasSubstr("250.0 % of its peak, as the step time"));
}

TEST(RunMarks, WhatAGpuMayDoIsNotImplausible) {
  DerivedMetrics metrics;
  metrics.mfu_tflops_per_gpu.value = 1.0;
  metrics.mfu_causal.value = 0.9;
  // It counts the whole square of the attention, of which half is done.
  metrics.mfu_model_flops_reference.value = 1.1;
  EXPECT_THAT(marks_with(metrics), IsEmpty());
  EXPECT_THAT(marks_with({}), IsEmpty());
}

// The folder of a run that traced nothing says so too: "24.11-nccl-trace", "…_nccltrace".
TEST(RunMarks, TracedIsWhatLogNameOrFolderSay) {
  RunConfiguration named;
  named.set("nccl_trace_enabled", "true", ConfigSource::path);
  EXPECT_TRUE(is_traced(true, {}));
  EXPECT_TRUE(is_traced(false, named));
  EXPECT_FALSE(is_traced(false, {}));
  RunSummary summary;
  summary.status = RunStatus::complete;
  summary.step_time_s = WindowStatistics{};
  const auto marks = marks_of({.summary = summary, .configuration = named});
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].mark, RunMark::traced);
  EXPECT_THAT(marks[0].reason, HasSubstr("Its name or folder says"));
}

TEST(RunMarks, ImplausibleIsOneThatMayBeIncluded) {
  const auto marks = parse_run_marks("proxy,implausible");
  ASSERT_TRUE(marks);
  EXPECT_EQ(*marks, (RunMarkSet{RunMark::proxy, RunMark::implausible}));
}

TEST(RunMarks, AreReadStrictly) {
  EXPECT_THAT(*parse_run_marks(""), IsEmpty());
  EXPECT_EQ(parse_run_marks("proxy,running")->size(), 2U);
  EXPECT_THAT(parse_run_marks("slow").error().message,
              HasSubstr("profiled, traced, function_check, proxy"));
  EXPECT_FALSE(parse_run_marks("no_data"));
}

TEST(RunMarks, AreSentencesOneBehindTheOther) {
  const std::vector<RunMarkReason> marks = {
      {RunMark::incomplete, "incomplete: the window 11-44 needs iteration 44"},
      {RunMark::no_data, "No step in the window 11-44 has a step time."},
      {RunMark::superseded, "The log was written anew since."}};
  EXPECT_EQ(exclusion_reason(marks, {}),
            "incomplete: the window 11-44 needs iteration 44. No step in the window 11-44 has a "
            "step time. The log was written anew since.");
}

}  // namespace
}  // namespace llmb::parser
