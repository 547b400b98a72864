#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(MaxtextLine, BecomesOneSample) {
  const ParsedLog log = parse_log(
      "completed step: 3, seconds: 5.402, TFLOP/s/device: 141.542, Tokens/s/device: 9098.189, "
      "total_weights: 196608, loss: 11.379\n");
  EXPECT_EQ(log.facts.dialect, Dialect::maxtext);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 3);
  EXPECT_EQ(log.samples[0].step_time_s, 5.402);
  EXPECT_NEAR(log.samples[0].step_time_resolution_s, 0.0005, 1e-12);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 141.542);
  EXPECT_EQ(log.samples[0].loss, 11.379);
  EXPECT_THAT(log.samples[0].extra_fields,
              ElementsAre(Pair("Tokens/s/device", 9098.189), Pair("total_weights", 196608)));
}

TEST(MaxtextLine, ThatCannotBeReadIsCounted) {
  const ParsedLog log =
      parse_log("completed step: x, seconds: 5\ncompleted step: 4, seconds: soon, loss: 2.5\n");
  EXPECT_EQ(log.facts.lines_not_understood, 2);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].loss, 2.5);
}

std::string maxtext(int step, const std::string& seconds) {
  return "completed step: " + std::to_string(step) + ", seconds: " + seconds +
         ", TFLOP/s/device: 141.5, loss: 11.3\n";
}

// Every process prints its own line, with its own time; slow ones after others went on.
TEST(MaxtextLine, OfSeveralProcessesIsOneStep) {
  const ParsedLog log = parse_log(maxtext(0, "9.101") + maxtext(0, "9.102") + maxtext(0, "9.100") +
                                  maxtext(1, "5.401") + maxtext(1, "5.402") + maxtext(2, "5.403") +
                                  maxtext(1, "5.404") + maxtext(2, "5.405") + maxtext(3, "5.406"));
  ASSERT_EQ(log.facts.segments.size(), 1U);
  ASSERT_EQ(log.samples.size(), 4U);
  EXPECT_EQ(log.samples[1].step_time_s, 5.401);
  EXPECT_EQ(log.samples[2].step_time_s, 5.403);
}

TEST(MaxtextLine, ThatGoesBackIsARestart) {
  const ParsedLog one =
      parse_log(maxtext(8, "5.1") + maxtext(9, "5.2") + maxtext(8, "5.3") + maxtext(9, "5.4"));
  EXPECT_EQ(one.facts.segments.size(), 2U);
  std::string several;
  for (int pass = 0; pass < 2; ++pass) {
    for (int step = 0; step < 9; ++step) {
      several +=
          maxtext(step, "5.1" + std::to_string(step)) + maxtext(step, "5.2" + std::to_string(step));
    }
  }
  const ParsedLog two = parse_log(several);
  EXPECT_EQ(two.facts.segments.size(), 2U);
  EXPECT_EQ(two.samples.size(), 18U);
}

TEST(MaxtextLine, OfAProfilersStepHasNoTimeAndIsAStep) {
  const ParsedLog log = parse_log(
      maxtext(4, "5.1") + "completed profiler activation step: 5, TFLOP/s/device: 1.0\n" +
      maxtext(6, "5.1") + "completed profiler deactivation step: 7\n" + maxtext(8, "5.2"));
  ASSERT_EQ(log.samples.size(), 5U);
  EXPECT_EQ(log.samples[1].iteration, 5);
  EXPECT_FALSE(log.samples[1].step_time_s);
  EXPECT_EQ(log.samples[1].extra_fields.back().first, kTimeIsHidden);
  EXPECT_EQ(log.samples[3].iteration, 7);
}

// 8 samples of 8192 tokens in a step, on 8 GPUs.
TEST(TorchtitanLine, HasAStepTimeWhereTheLogSaysTheTokensOfAStep) {
  const std::string start =
      "Trainer is initialized with local batch size 1, global batch size 8, gradient accumulation "
      "steps 1, sequence length 8192, total steps 50 (warmup 2)\n";
  const std::string step =
      "[titan] 2025-12-22 15:18:33,123 - root - INFO - step: 10  loss: 9.5  grad_norm: 1.0  "
      "memory: "
      "68.50GiB(86.69%)  tps: 4,096  tflops: 300.1  mfu: 30.3%\n";
  for (const std::string mesh : {"Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\n",
                                 "Building device mesh with parallelism: pp=1, dp_replicate=1, "
                                 "dp_shard=4, cp=1, tp=2, ep=4, "
                                 "etp=1\n"}) {
    const ParsedLog log = parse_log(mesh + start + step);
    ASSERT_EQ(log.samples.size(), 1U) << mesh;
    ASSERT_TRUE(log.samples[0].step_time_s) << mesh;
    EXPECT_NEAR(*log.samples[0].step_time_s, 8192.0 / 4096, 1e-9);
    EXPECT_NEAR(log.samples[0].step_time_resolution_s, 2 * 0.5 / 4096, 1e-9);
    EXPECT_EQ(log.facts.declared_last_iteration, 50);
    EXPECT_EQ(log.facts.lines_not_understood, 0);
  }
  EXPECT_FALSE(parse_log(start + step).samples[0].step_time_s);  // on how many GPUs?
}

std::string titan(const std::string& rank, const std::string& instant, int step) {
  return rank + ": " + instant + " - root - INFO - \x1b[36mstep: " + std::to_string(step) +
         "  \x1b[32mloss:  3.4370  \x1b[33mmemory: 68.50GiB(86.69%)  \x1b[34mtps: 6,785  "
         "tflops: 98.5  \x1b[35mmfu: 39.73%\x1b[39m\n";
}

TEST(TorchtitanLine, OfSeveralRanksIsOneStep) {
  const ParsedLog log = parse_log(
      titan("1", "2025-03-04 00:44:44,441", 1980) + titan("0", "2025-03-04 00:44:44,442", 1980) +
      titan("0", "2025-03-04 00:45:44,441", 1990) + titan("3", "2025-03-04 00:44:44,443", 1980) +
      titan("1", "2025-03-04 00:45:44,442", 1990));
  EXPECT_EQ(log.facts.dialect, Dialect::torchtitan);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  ASSERT_EQ(log.samples.size(), 2U);
  const StepSample& sample = log.samples[1];
  EXPECT_EQ(sample.iteration, 1990);
  EXPECT_EQ(sample.step_time_s, std::nullopt);
  EXPECT_EQ(sample.loss, 3.437);
  EXPECT_EQ(sample.tflops_per_gpu, 98.5);
  EXPECT_EQ(sample.memory_bytes_max, 68.5 * 1024 * 1024 * 1024);
  EXPECT_EQ(sample.logged_at, "2025-03-04T00:45:44.441");
  EXPECT_THAT(sample.extra_fields,
              ElementsAre(Pair("tps", 6785), Pair("mfu", testing::DoubleEq(0.3973))));
}

TEST(TorchtitanLine, RepeatedLaterIsARestart) {
  const ParsedLog log = parse_log(titan("0", "2025-03-04 00:44:44,441", 10) +
                                  titan("0", "2025-03-04 00:45:44,441", 20) +
                                  titan("0", "2025-03-04 01:44:44,441", 10));
  ASSERT_EQ(log.facts.segments.size(), 2U);
  EXPECT_EQ(log.samples.size(), 3U);
}

TEST(TorchtitanLine, OfAValidationIsNoStep) {
  const ParsedLog log =
      parse_log(titan("0", "2025-03-04 00:44:44,441", 10) +
                "2025-03-04 00:44:50,441 - root - INFO - validate step: 25  loss: 3.4  memory: "
                "68.50GiB(86.69%)  tps: 6,785\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 10);
}

TEST(NeuronxLine, BecomesOneSample) {
  const ParsedLog log = parse_log(
      "step 28 step_time 5.86236310005188s throughput 112.5 seq/s loss 12.078991651535034 "
      "val-loss: "
      "None current_lr: 3.999999999474788e-06 grad norm 21.875\n");
  EXPECT_EQ(log.facts.dialect, Dialect::neuronx);
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.iteration, 28);
  EXPECT_EQ(sample.step_time_s, 5.86236310005188);
  EXPECT_EQ(sample.loss, 12.078991651535034);
  EXPECT_EQ(sample.learning_rate, 3.999999999474788e-06);
  EXPECT_EQ(sample.grad_norm, 21.875);
  EXPECT_THAT(sample.extra_fields, ElementsAre(Pair("throughput", 112.5)));
}

TEST(NeuronxLine, ThatCannotBeReadIsCounted) {
  const ParsedLog log = parse_log("step 28 step_time soon\nthe step_time of step 3\n");
  EXPECT_EQ(log.facts.lines_not_understood, 1);
  EXPECT_TRUE(log.samples.empty());
}

TEST(Dialects, FirstThatYieldsAStepIsTheLogs) {
  const std::string nemo = "Training epoch 0, iteration 1/9 | train_step_timing in s: 1.5\n";
  const std::string maxtext = "completed step: 3, seconds: 5.402, loss: 11.379\n";
  const ParsedLog first_nemo = parse_log(nemo + maxtext);
  EXPECT_EQ(first_nemo.facts.dialect, Dialect::nemo);
  EXPECT_EQ(first_nemo.samples.size(), 1U);
  const ParsedLog first_maxtext = parse_log(maxtext + nemo);
  EXPECT_EQ(first_maxtext.facts.dialect, Dialect::maxtext);
  EXPECT_EQ(first_maxtext.samples.size(), 1U);
}

}  // namespace
}  // namespace llmb::parser
