// Which steps a checkpoint, an evaluation or a profiler touches, as told by the lines between them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_samples.h"
#include "parser/step_interruption.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string nemo(int iteration, double seconds = 2.5) {
  return fmt::format(
      "Training epoch 0, iteration {}/49 | lr: 3e-06 | global_step: {} | reduced_train_loss: 11.2 "
      "| "
      "train_step_timing in s: {}\n",
      iteration, iteration, seconds);
}

// By step; nothing for those that nothing touches.
std::vector<StepInterruptionSet> touched(const ParsedLog& log) {
  std::vector<StepInterruptionSet> sets;
  for (const StepSample& sample : log.samples) sets.push_back(interruptions_of(sample));
  return sets;
}

constexpr auto kCheckpoint = StepInterruption::checkpoint;
constexpr auto kEvaluation = StepInterruption::evaluation;
constexpr auto kProfile = StepInterruption::profile;

TEST(StepMarks, AreOnTheStepThatFollows) {
  const ParsedLog log = parse_log(
      nemo(3) +
      "Global Checkpoint Save : Rank: 0 : Iteration: 3 : Start time: 1.0s : Save "
      "duration: 0.1s\n" +
      nemo(4) + "Validation: iteration 1/2\nValidation: iteration 2/2\n" + nemo(5) + nemo(6));
  EXPECT_THAT(touched(log), ElementsAre(IsEmpty(), ElementsAre(kCheckpoint),
                                        ElementsAre(kEvaluation), IsEmpty()));
}

// MaxText prints a step's line while the next is under way: the save of step 3 lies in step 4.
TEST(StepMarks, OfMaxtextsSavesAreOnTheStepBehindTheirs) {
  const auto step = [](int iteration) {
    return fmt::format("completed step: {}, seconds: 5.1, loss: 11.3\n", iteration);
  };
  for (const std::string save : {"Started an asynchronous checkpoint save for step 3\n",
                                 "Saved a checkpoint at step 3.\n"}) {
    for (const int printed_before : {2, 3}) {
      std::string log;
      for (int i = 2; i < 6; ++i) log += step(i) + (i == printed_before ? save : "");
      EXPECT_THAT(touched(parse_log(log)),
                  ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(kCheckpoint), IsEmpty()));
    }
  }
}

TEST(StepMarks, OfALoadAreNone) {
  const ParsedLog log = parse_log(
      "Global Checkpoint Load : Rank : 0 : Start time : 1.0s : Time spent in load_checkpoint: "
      "2.5s\n" +
      nemo(3));
  EXPECT_THAT(touched(log), ElementsAre(IsEmpty()));
}

TEST(StepMarks, StayOneStepWhereItsLineIsPrintedTwice) {
  const ParsedLog log = parse_log(nemo(3) + "Validation: iteration 1/1\n" + nemo(4) + nemo(4));
  EXPECT_EQ(log.facts.segments.size(), 1U);
  EXPECT_THAT(touched(log), ElementsAre(IsEmpty(), ElementsAre(kEvaluation)));
}

TEST(StepMarks, OfAProfilerAreOnAllItsSteps) {
  const ParsedLog log =
      parse_log(nemo(3) + "[NeMo I nsys] ====== Start nsys profiling ======\n" + nemo(4) + nemo(5) +
                "[NeMo I nsys] ====== End nsys profiling ======\n" + nemo(6) + nemo(7));
  EXPECT_THAT(touched(log), ElementsAre(IsEmpty(), ElementsAre(kProfile), ElementsAre(kProfile),
                                        ElementsAre(kProfile), IsEmpty()));
}

// What an attempt had begun when it died marks no step of the next one.
TEST(StepMarks, AreNotThoseOfAnAttemptThatDied) {
  const std::string begun = "[NeMo I nsys] ====== Start nsys profiling ======\n";
  const std::string start = "> initializing torch distributed ...\n";
  EXPECT_THAT(touched(parse_log(nemo(3) + begun + nemo(4) + nemo(2) + nemo(3))),
              ElementsAre(IsEmpty(), ElementsAre(kProfile), IsEmpty(), IsEmpty()));
  // It may have died before a step of it: the next program's own first line tells.
  EXPECT_THAT(touched(parse_log(nemo(3) + begun + start + nemo(2) + nemo(3))),
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(touched(parse_log(nemo(3) + start + begun + nemo(2) + nemo(3))),
              ElementsAre(IsEmpty(), ElementsAre(kProfile), ElementsAre(kProfile)));
}

TEST(StepMarks, StayWhenALaterLineAddsToTheStep) {
  const std::string step =
      " [2025-12-22 15:18:33] iteration        4/      50 | consumed samples:         1536 |"
      " elapsed time per iteration (ms): 7137.9 | learning rate: 1.0E-05 | global batch size:   512"
      " | lm loss: 1.1E+01 | number of skipped iterations:   0 | number of nan iterations:   0 |\n";
  const ParsedLog log =
      parse_log("  successfully saved checkpoint from iteration       3 to /ckpt\n" + step +
                "Step Time : 7.14s GPU utilization: 512.5MODEL_TFLOP/s/GPU\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 512.5);
  EXPECT_THAT(touched(log), ElementsAre(ElementsAre(kCheckpoint)));
}

TEST(StepMarks, OutliveARestartOfTheReader) {
  LogReader reader;
  reader.feed(nemo(3) + "Validation: iteration 1/1\n");
  auto restored = LogReader::restore(reader.save_state());
  ASSERT_TRUE(restored);
  restored->feed(nemo(4));
  const auto samples = restored->take_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_THAT(interruptions_of(samples[0]), ElementsAre(kEvaluation));
}

TEST(StepMarks, AreTakenFromVerlsPhasesToo) {
  StepSample sample;
  sample.extra_fields = {{"timing_s/testing", 21.0}, {"timing_s/gen", 16.0}};
  EXPECT_THAT(interruptions_of(sample), ElementsAre(kEvaluation));
  sample.extra_fields = {{"timing_s/save_checkpoint", 3.0}, {std::string(kTimeIsHidden), 1}};
  EXPECT_THAT(interruptions_of(sample), ElementsAre(kCheckpoint, kProfile));
}

TEST(StepInterruptions, AreReadAsAUserNamesThem) {
  EXPECT_THAT(parse_step_interruptions("").value(), IsEmpty());
  EXPECT_THAT(parse_step_interruptions("profile,checkpoint").value(),
              ElementsAre(kCheckpoint, kProfile));
  EXPECT_THAT(parse_step_interruptions("all").value(),
              ElementsAre(kCheckpoint, kEvaluation, kProfile));
  const auto refused = parse_step_interruptions("checkpoint,eval");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "'eval' is not one of checkpoint, evaluation, profile, all; several are separated by "
            "commas.");
}

}  // namespace
}  // namespace llmb::parser
