#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string bar(const std::string& count, const std::string& step, const std::string& time,
                int epoch = 0) {
  return "Epoch " + std::to_string(epoch) + ": :  10%|#9        | " + count +
         " [00:25<03:50, v_num=3, reduced_train_loss=11.00, global_step=" + step +
         ", consumed_samples=128.0, train_step_timing in s=" + time + "]";
}

TEST(NemoProgressBar, ShowsEachStepTwiceAndYieldsItOnce) {
  const ParsedLog log =
      parse_log("\r" + bar("1/20", "0.000", "21.40") + "\r" + bar("2/20", "0.000", "21.40") + "\r" +
                bar("2/20", "1.000", "12.80") + "\r" + bar("3/20", "1.000", "12.80") + "\r" +
                bar("3/20", "2.000", "9.980") + "\n");
  EXPECT_EQ(log.facts.dialect, Dialect::nemo_progress_bar);
  EXPECT_EQ(log.facts.declared_last_iteration, 19);
  ASSERT_EQ(log.samples.size(), 3U);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.facts.segments[0].step_count, 3);
  EXPECT_EQ(log.samples[0].step_time_s, 21.4);
  EXPECT_EQ(log.samples[1].step_time_s, 12.8);
  EXPECT_EQ(log.samples[2].step_time_s, 9.98);
  EXPECT_NEAR(log.samples[0].step_time_resolution_s, 0.05, 1e-12);
  EXPECT_NEAR(log.samples[2].step_time_resolution_s, 0.005, 1e-12);
  EXPECT_EQ(log.samples[2].loss, 11.0);
  EXPECT_EQ(log.samples[2].consumed_samples, 128);
  EXPECT_TRUE(log.samples[2].extra_fields.empty());
}

TEST(NemoProgressBar, TakesTheExperimentsVersionAsText) {
  for (const std::string version : {"", "0-11", "1a2b", "7e12", "0_33", "12.0"}) {
    const ParsedLog log =
        parse_log(" 0: Epoch 0: :   5%|5         | 10/200 [00:51<16:08, v_num=" + version +
                  ", reduced_train_loss=8.630, global_step=9.0, "
                  "consumed_samples=10240.0, train_step_timing in s=5.030]\n");
    ASSERT_EQ(log.samples.size(), 1U) << version;
    EXPECT_EQ(log.samples[0].iteration, 9);
    EXPECT_EQ(log.samples[0].step_time_s, 5.03);
    EXPECT_EQ(log.samples[0].loss, 8.63);
    EXPECT_TRUE(log.samples[0].extra_fields.empty()) << version;
  }
}

TEST(NemoProgressBar, ReadsBarsThatAreGlued) {
  const ParsedLog log = parse_log(bar("1/20", "0.000", "21.40") + bar("2/20", "0.000", "21.40") +
                                  bar("2/20", "1.000", "12.80") + "Epoch 0: :  15%|#4 | 3/20 [00");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[1].step_time_s, 12.8);
}

TEST(NemoProgressBar, DllLoggerLineGivesFullPrecision) {
  const std::string dll =
      "DLL 2025-06-12 00:02:13.549782 - 0 reduced_train_loss : 11.026606559753418  lr : 0.0  "
      "global_step : 0.0  consumed_samples : 128.0  train_backward_timing in s : 4.26e-05  "
      "grad_norm : 8.775321006774902  train_step_timing in s : 21.367358684539795  epoch : 0 \n";
  const ParsedLog log =
      parse_log(bar("1/20", "0.000", "21.40") + dll + bar("2/20", "0.000", "21.40") + "\n");
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.step_time_s, 21.367358684539795);
  EXPECT_EQ(sample.step_time_resolution_s, 0);
  EXPECT_EQ(sample.loss, 11.026606559753418);
  EXPECT_EQ(sample.learning_rate, 0.0);
  EXPECT_EQ(sample.grad_norm, 8.775321006774902);
  EXPECT_EQ(sample.logged_at, "2025-06-12T00:02:13.549782");
  EXPECT_THAT(sample.extra_fields, ElementsAre(Pair("train_backward_timing in s", 4.26e-05)));
  EXPECT_EQ(log.facts.segments[0].step_count, 1);
}

TEST(NemoProgressBar, DllLoggerLinesAloneAreSteps) {
  const ParsedLog log = parse_log(
      "DLL 2025-06-12 00:02:13.549782 - PARAMETER seed : 1234 \n"
      "DLL 2025-06-12 00:02:13.549782 - 4 global_step : 4.0  train_step_timing in s : 2.5 \n"
      "DLL 2025-06-12 00:02:16.549782 - 5 global_step : 5.0  train_step_timing in s : 2.6 \n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].iteration, 4);
  EXPECT_EQ(log.samples[1].step_time_s, 2.6);
}

TEST(NemoProgressBar, ListAtTheEndIsNoStep) {
  const ParsedLog log = parse_log(
      "[NeMo I 2025-06-12 00:03:35 nemo_logging:393] train_step_timing in s: [21.37, 12.82]\n"
      "[NeMo I 2025-06-12 00:03:35 nemo_logging:393] TFLOPs per sec per GPU=1753.06\n");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.facts.reported_tflops_per_gpu, 1753.06);
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

TEST(NemoProgressBar, UnknownTflopsAreNone) {
  const ParsedLog log = parse_log("[NeMo I] TFLOPs per sec per GPU=-1.00\n");
  EXPECT_EQ(log.facts.reported_tflops_per_gpu, std::nullopt);
}

TEST(NemoProgressBar, CountTellsTheStepWhereTheBarRoundsIt) {
  // tqdm prints 1999, 2000 and 2001 all as "2e+3".
  std::string text = bar("1994/3000", "1992.0", "2.00") + bar("1994/3000", "1993.0", "2.00");
  text += bar("1995/3000", "1993.0", "2.00") + bar("1995/3000", "1994.0", "2.01");
  text += bar("1996/3000", "1994.0", "2.01") + bar("1996/3000", "2e+3", "2.02");
  text += bar("1997/3000", "2e+3", "2.02") + bar("1997/3000", "2e+3", "2.03") + "\n";
  const ParsedLog log = parse_log(text);
  ASSERT_EQ(log.facts.segments.size(), 1U);
  ASSERT_EQ(log.samples.size(), 5U);
  EXPECT_EQ(log.samples[3].iteration, 1995);
  EXPECT_EQ(log.samples[3].step_time_s, 2.02);
  EXPECT_EQ(log.samples[4].iteration, 1996);
  EXPECT_EQ(log.samples[4].step_time_s, 2.03);
}

// A bar that is refreshed once a step shows each count once.
TEST(NemoProgressBar, RoundedStepsOfCountsThatComeOnceAreTold) {
  const ParsedLog from_start =
      parse_log(bar("999/603000", "998.0", "2.01") + bar("1000/603000", "999.0", "2.02") +
                bar("1001/603000", "1e+3", "2.03") + bar("2000/603000", "2e+3", "2.04") + "\n");
  ASSERT_EQ(from_start.samples.size(), 4U);
  EXPECT_EQ(from_start.samples[2].iteration, 1000);
  EXPECT_EQ(from_start.samples[3].iteration, 1999);
  const ParsedLog from_within =
      parse_log(bar("2000/603000", "2e+3", "2.04") + bar("2001/603000", "2e+3", "2.05") + "\n");
  ASSERT_EQ(from_within.samples.size(), 1U);  // whether counts come twice, the first does not tell
  EXPECT_EQ(from_within.samples[0].iteration, 2000);
  EXPECT_EQ(from_within.samples[0].step_time_s, 2.05);
}

TEST(NemoProgressBar, FallingStepIsARestart) {
  const ParsedLog log =
      parse_log(bar("6/20", "5.000", "2.00") + "\n" + bar("1/20", "0.000", "9.00") + "\n" +
                bar("2/20", "1.000", "2.00") + "\n");
  ASSERT_EQ(log.facts.segments.size(), 2U);
  EXPECT_EQ(log.facts.segments[1].first_iteration, 0);
  EXPECT_EQ(log.facts.segments[1].last_iteration, 1);
}

TEST(NemoProgressBar, DeltaTimingLinesAreStepsWhereNoBarIs) {
  const ParsedLog log =
      parse_log("Step 1: train_step_timing in s=4.33\nStep 2: train_step_timing in s=4.31\n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[1].iteration, 2);
  EXPECT_EQ(log.samples[1].step_time_s, 4.31);
}

TEST(NemoProgressBar, CutBarGivesOnlyWholeFields) {
  const std::string whole = bar("2/20", "1.000", "12.80");
  const ParsedLog log = parse_log(whole.substr(0, whole.size() - 3) + "\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, std::nullopt);  // "12." may have been 12.8
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

}  // namespace
}  // namespace llmb::parser
