#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* kLine =
    "Training epoch 0, iteration 7/49 | lr: 2.999e-06 | global_batch_size: 512 | global_step: 7 | "
    "max_memory_reserved: 57466159104 | max_memory_allocated: 53930270720 | "
    "reduced_train_loss: 10.22 | train_step_timing in s: 27.01 | consumed_samples: 4096 | "
    "TFLOPS_per_GPU: 1.679e+03 | val_loss: 0.8311\n";

TEST(NemoLine, BecomesOneSampleWithEveryField) {
  const ParsedLog log = parse_log(kLine);
  EXPECT_EQ(log.facts.dialect, Dialect::nemo);
  EXPECT_EQ(log.facts.declared_last_iteration, 49);
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.segment, 0);
  EXPECT_EQ(sample.iteration, 7);
  EXPECT_TRUE(sample.iteration_is_logged);
  EXPECT_EQ(sample.epoch, 0);
  EXPECT_EQ(sample.global_step, 7);
  EXPECT_EQ(sample.step_time_s, 27.01);
  EXPECT_NEAR(sample.step_time_resolution_s, 0.005, 1e-12);
  EXPECT_EQ(sample.tflops_per_gpu, 1679);
  EXPECT_EQ(sample.loss, 10.22);
  EXPECT_EQ(sample.learning_rate, 2.999e-06);
  EXPECT_EQ(sample.consumed_samples, 4096);
  EXPECT_EQ(sample.global_batch_size, 512);
  EXPECT_EQ(sample.memory_bytes_max, 57466159104);
  EXPECT_EQ(sample.memory_bytes_allocated, 53930270720);
  EXPECT_THAT(sample.extra_fields, ElementsAre(Pair("val_loss", 0.8311)));
  EXPECT_EQ(sample.logged_at, "");
  EXPECT_EQ(sample.byte_offset, 0U);
}

TEST(NemoLine, TakesTheOlderMemoryNames) {
  const ParsedLog log = parse_log(
      "Training epoch 0, iteration 49/49 | peak_memory_usage: 72972500992 | "
      "memory_allocated: 34466545664 | train_step_timing in s: 2.693\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].memory_bytes_max, 72972500992);
  EXPECT_EQ(log.samples[0].memory_bytes_allocated, 34466545664);
}

TEST(NemoLine, WithoutTimingIsAStepWithoutTime) {
  const ParsedLog log =
      parse_log("Training epoch 0, iteration 0/499 | lr: 0 | reduced_train_loss: 10.2\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, std::nullopt);
  EXPECT_EQ(log.samples[0].loss, 10.2);
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

// A terminal's copy, or a scheduler's: the rest stands on lines of its own.
TEST(NemoLine, IsCountedWhereItEndsBeforeItsTime) {
  const std::string line =
      "Training epoch 0, iteration 3/49 | lr: 2.7e-06 | global_batch_size: 128 | global_step: 3 "
      "| reduced_train_loss: 11.03 | train_step_timing in s: 7.38";
  for (const std::size_t end :
       {line.find(" |"), std::size_t{60}, line.find("| reduced"), line.find("| train_step")}) {
    const ParsedLog log = parse_log(line.substr(0, end) + "\n" + line.substr(end) + "\n");
    ASSERT_EQ(log.samples.size(), 1U) << end;
    EXPECT_FALSE(log.samples[0].step_time_s) << end;
    EXPECT_EQ(log.facts.lines_not_understood, 1) << end;
  }
  // Of a log that grows, or was cut, the last line has yet to end.
  EXPECT_EQ(parse_log(line.substr(0, 60)).facts.lines_not_understood, 0);
}

TEST(NemoLine, ResolutionIsThatOfFourSignificantDigits) {
  const auto resolution = [](const std::string& time) {
    const ParsedLog log =
        parse_log("Training epoch 0, iteration 1/9 | train_step_timing in s: " + time + "\n");
    return log.samples.at(0).step_time_resolution_s;
  };
  EXPECT_NEAR(resolution("7.382"), 0.0005, 1e-12);
  EXPECT_NEAR(resolution("3.18"), 0.0005, 1e-12);  // trailing zeros are not printed
  EXPECT_NEAR(resolution("24"), 0.005, 1e-12);
  EXPECT_NEAR(resolution("1.679e+03"), 0.5, 1e-9);
  EXPECT_NEAR(resolution("0.0873"), 0.000005, 1e-12);
}

TEST(NemoLine, KeepsNanAndInfAsLogged) {
  const ParsedLog log = parse_log(
      "Training epoch 0, iteration 3/49 | reduced_train_loss: nan | grad_norm: inf | "
      "train_step_timing in s: 1e-05\n");
  ASSERT_EQ(log.samples.size(), 1U);
  ASSERT_TRUE(log.samples[0].loss.has_value());
  EXPECT_TRUE(std::isnan(*log.samples[0].loss));
  EXPECT_TRUE(std::isinf(*log.samples[0].grad_norm));
  EXPECT_EQ(log.samples[0].step_time_s, 1e-05);
  ASSERT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.facts.segments[0].nan_step_count, 1);
  EXPECT_EQ(log.facts.segments[0].first_nan_iteration, 3);
}

TEST(NemoLine, UnknownTflopsAreNone) {
  for (const char* value : {"0", "-1", "-1.00", "nan", "inf"}) {
    const ParsedLog log =
        parse_log(std::string("Training epoch 0, iteration 3/49 | train_step_timing in s: 2 | "
                              "TFLOPS_per_GPU: ") +
                  value + "\n");
    ASSERT_EQ(log.samples.size(), 1U);
    EXPECT_EQ(log.samples[0].tflops_per_gpu, std::nullopt) << value;
    EXPECT_EQ(log.samples[0].step_time_s, 2);
  }
}

TEST(NemoLine, GluedRecordsAreSeparateSteps) {
  const ParsedLog log = parse_log(
      "Training epoch 0, iteration 1/49 | train_step_timing in s: 2.5Training epoch 0, iteration "
      "2/49 | train_step_timing in s: 2.6[NeMo I 2025] | bad: 5 | worse: 6\n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].step_time_s, 2.5);
  EXPECT_EQ(log.samples[1].step_time_s, 2.6);
  EXPECT_TRUE(log.samples[1].extra_fields.empty());
}

TEST(NemoLine, ValidationAndTestingAreNoSteps) {
  const ParsedLog log = parse_log(
      "Sanity checking Validation: iteration 1/2\nValidation: iteration 20/20\n"
      "Testing: iteration 5/5\nA Training epoch takes long\n");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.facts.dialect, Dialect::unknown);
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

TEST(NemoLine, ThatCannotBeReadIsCounted) {
  const ParsedLog log = parse_log(
      "Training epoch 0, itera\nTraining epoch 0, iteration x/49 | lr: 1\n"
      "Training epoch 0, iteration 4/49 | train_step_timing in s: 3.O1\n"
      "Training epoch 0, iteration 5/49 | train_step_timing in s: abc\n");
  EXPECT_EQ(log.facts.lines_not_understood, 3);
  EXPECT_EQ(log.samples.size(), 2U);
}

TEST(NemoLine, IsReadBehindLaunchersPrefixesAndColours) {
  const ParsedLog log = parse_log(
      " 0: Training epoch 0, iteration 1/9 | train_step_timing in s: 1.5\n"
      "ining-demo/0 [default0]:Training epoch 0, iteration 2/9 | train_step_timing in s: 2.5\n"
      "(pretraining, pid=4112) Training epoch 0, iteration 3/9 | train_step_timing in s: "
      "\x1b[32m3.5\x1b[0m\r\n");
  ASSERT_EQ(log.samples.size(), 3U);
  EXPECT_EQ(log.samples[2].step_time_s, 3.5);
}

std::string nemo_line(int epoch, int iteration, int step, const char* time) {
  return "Training epoch " + std::to_string(epoch) + ", iteration " + std::to_string(iteration) +
         "/19 | global_step: " + std::to_string(step) + " | train_step_timing in s: " + time + "\n";
}

TEST(NemoEpoch, FromTheSecondOnIterationIsTheGlobalStep) {
  const ParsedLog log = parse_log(nemo_line(0, 17, 17, "7.1") + nemo_line(0, 18, 18, "7.2") +
                                  nemo_line(1, 0, 19, "7.3") + nemo_line(1, 1, 20, "7.4"));
  ASSERT_EQ(log.samples.size(), 4U);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.samples[2].iteration, 19);
  EXPECT_EQ(log.samples[2].epoch, 1);
  EXPECT_EQ(log.samples[3].iteration, 20);
  // 19 was the last of an epoch, not of the run.
  EXPECT_EQ(log.facts.declared_last_iteration, std::nullopt);
}

TEST(NemoEpoch, AGlobalStepThatIsNoIterationIsNoStep) {
  const ParsedLog log = parse_log(
      nemo_line(0, 18, 18, "7.1") +
      "Training epoch 1, iteration 0/19 | global_step: 2e+17 | train_step_timing in s: 7.2\n" +
      nemo_line(1, 1, 20, "7.3"));
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[1].iteration, 20);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(NemoEpoch, WithoutGlobalStepGoesOnFromTheEpochBefore) {
  const ParsedLog log = parse_log(
      "Training epoch 0, iteration 18/19 | train_step_timing in s: 7.1\n"
      "Training epoch 1, iteration 0/19 | train_step_timing in s: 7.2\n"
      "Training epoch 1, iteration 1/19 | train_step_timing in s: 7.3\n");
  ASSERT_EQ(log.samples.size(), 3U);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.samples[1].iteration, 19);
  EXPECT_EQ(log.samples[2].iteration, 20);
}

TEST(NemoRestart, BeginsANewSegment) {
  const ParsedLog log = parse_log(nemo_line(0, 9, 9, "7.1") + nemo_line(0, 10, 10, "7.2") +
                                  nemo_line(0, 10, 10, "9.9") + nemo_line(0, 11, 11, "7.3") +
                                  nemo_line(0, 5, 5, "7.4"));
  ASSERT_EQ(log.facts.segments.size(), 3U);
  EXPECT_EQ(log.facts.segments[0].first_iteration, 9);
  EXPECT_EQ(log.facts.segments[0].last_iteration, 10);
  EXPECT_EQ(log.facts.segments[0].step_count, 2);
  EXPECT_EQ(log.facts.segments[1].first_iteration, 10);
  EXPECT_EQ(log.facts.segments[1].last_iteration, 11);
  EXPECT_EQ(log.facts.segments[2].first_iteration, 5);
  ASSERT_EQ(log.samples.size(), 5U);
  EXPECT_EQ(log.samples[2].segment, 1);
  EXPECT_EQ(log.samples[2].step_time_s, 9.9);
}

TEST(NemoRestart, IsNotTheSameLinePrintedTwice) {
  const ParsedLog log = parse_log(std::string(kLine) + kLine);
  EXPECT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_EQ(log.facts.segments[0].step_count, 1);
}

}  // namespace
}  // namespace llmb::parser
