#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(MegatronLine, BecomesOneSampleWithEveryField) {
  const ParsedLog log = parse_log(
      "   1:  [2026-01-16 07:32:24.125] iteration        5/     100 | consumed samples:        "
      "10240 "
      "| skipped samples:            3 | elapsed time per iteration (ms): 15800.0 | throughput per "
      "GPU (TFLOP/s/GPU): 490.0 | energy per GPU (J/iter/GPU): 812.5 | learning rate: 4.134000E-07 "
      "| global batch size:  2048 | lm loss: 1.344240E+01 | seq_load_balancing_loss: 1.000203E+00 "
      "| "
      "loss scale: 1.0 | grad norm: 2.870 | num zeros: 1174412544.0 | params norm: 8660.607 | "
      "number of skipped iterations:   2 | number of nan iterations:   1 |\n");
  EXPECT_EQ(log.facts.dialect, Dialect::megatron_lm);
  EXPECT_EQ(log.facts.declared_last_iteration, 100);
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.iteration, 5);
  EXPECT_EQ(sample.logged_at, "2026-01-16T07:32:24.125");
  EXPECT_EQ(sample.step_time_s, 15.8);
  EXPECT_NEAR(sample.step_time_resolution_s, 0.00005, 1e-12);
  EXPECT_EQ(sample.tflops_per_gpu, 490);
  EXPECT_EQ(sample.loss, 13.4424);
  EXPECT_EQ(sample.learning_rate, 4.134e-07);
  EXPECT_EQ(sample.grad_norm, 2.87);
  EXPECT_EQ(sample.params_norm, 8660.607);
  EXPECT_EQ(sample.loss_scale, 1);
  EXPECT_EQ(sample.consumed_samples, 10240);
  EXPECT_EQ(sample.global_batch_size, 2048);
  EXPECT_EQ(sample.skipped_iterations, 2);
  EXPECT_EQ(sample.nan_iterations, 1);
  EXPECT_THAT(
      sample.extra_fields,
      ElementsAre(Pair("skipped samples", 3), Pair("energy per GPU (J/iter/GPU)", 812.5),
                  Pair("seq_load_balancing_loss", 1.000203), Pair("num zeros", 1174412544)));
}

TEST(MegatronLine, OfAnOldLogLacksWhatItLacks) {
  const ParsedLog log = parse_log(
      " iteration       10/    1000 | consumed samples:           40 | elapsed time per iteration "
      "(ms): 2152.2 | learning rate: 0.000E+00 | global batch size:     4 | loss scale: 8388608.0 "
      "| "
      "number of skipped iterations:  10 | number of nan iterations:   0 |\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_DOUBLE_EQ(log.samples[0].step_time_s.value(), 2.1522);
  EXPECT_EQ(log.samples[0].learning_rate, 0);
  EXPECT_EQ(log.samples[0].loss, std::nullopt);
  EXPECT_EQ(log.samples[0].logged_at, "");
}

TEST(MegatronLine, TakesTheFieldsOfForks) {
  const ParsedLog log = parse_log(
      " iteration 3/ 9 | consumed samples: 40 | consumed tokens: 1.258B | eta: 0:00:10 | "
      "tokens/sec/gpu: 3682.9 | elapsed time per iteration (s): 3.56 | lm loss: nan | number of "
      "skipped iterations: 0 | number of nan iterations: 0 | samples per second: 115.1 | TFLOPs: "
      "29.63 |\n");
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.step_time_s, 3.56);
  EXPECT_NEAR(sample.step_time_resolution_s, 0.005, 1e-12);
  EXPECT_EQ(sample.tflops_per_gpu, 29.63);
  EXPECT_TRUE(std::isnan(sample.loss.value()));
  EXPECT_THAT(sample.extra_fields,
              ElementsAre(Pair("consumed tokens", 1.258e9), Pair("tokens/sec/gpu", 3682.9),
                          Pair("samples per second", 115.1)));
}

constexpr const char* kTail =
    " | number of skipped iterations:   0 | number of nan iterations:   0 |";

std::string iteration_line(int iteration, const std::string& ms) {
  return " iteration " + std::to_string(iteration) +
         "/ 50 | consumed samples: " + std::to_string(iteration * 128) +
         " | elapsed time per iteration (ms): " + ms + kTail;
}

TEST(MegatronLine, EndsBeforeTextThatIsGluedToIt) {
  const ParsedLog log = parse_log(
      iteration_line(1, "20289.1") +
      "Number of parameters in transformer layers in billions:  6.98\n" +
      iteration_line(2, "20.5") + "[Rank 0] (after 2 iterations) memory (GB) | mem-a: 2 |\n" +
      iteration_line(3, "21.5") + iteration_line(4, "22.5") + "\n");
  ASSERT_EQ(log.samples.size(), 4U);
  EXPECT_DOUBLE_EQ(log.samples[0].step_time_s.value(), 20.2891);
  EXPECT_EQ(log.samples[0].nan_iterations, 0);
  EXPECT_TRUE(log.samples[1].extra_fields.empty());
  EXPECT_EQ(log.samples[3].step_time_s, 0.0225);
}

TEST(MegatronLine, BrokenOverSeveralLinesIsOneRecord) {
  const ParsedLog log = parse_log(
      "ain_fp8_mx/0 Step Time : 9.09s GPU utilization: 663.5MODEL_TFLOP/s/GPU\n\n"
      "ain_fp8_mx/0  [2025-12-22 15:18:33] iteration       50/      50 | consumed samples:  25600 "
      "| \n"
      "elapsed time per iteration (ms): 9089.0 | learning rate: 3.000000E-05 | \n"
      "lm loss: 8.114214E+00 | load_balancing_loss: 1.000000E+00 | loss scale: 1.0 | grad norm: "
      "0.042 "
      "| \nnumber of skipped iterations:   0 | number of nan iterations:   0 |\n"
      "learning rate: 99.0 | grad norm: 99.0 |\n");
  ASSERT_EQ(log.samples.size(), 1U);
  const StepSample& sample = log.samples[0];
  EXPECT_EQ(sample.step_time_s, 9.089);
  EXPECT_EQ(sample.tflops_per_gpu, 663.5);
  EXPECT_EQ(sample.loss, 8.114214);
  EXPECT_EQ(sample.grad_norm, 0.042);
  EXPECT_EQ(sample.learning_rate, 3e-05);  // the record was complete before the last line
  EXPECT_EQ(sample.nan_iterations, 0);
  EXPECT_EQ(log.facts.segments[0].step_count, 1);
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

TEST(MegatronLine, ValidationAndProseAreNoSteps) {
  const ParsedLog log = parse_log(
      " validation loss at iteration 100 | lm loss value: 8.017406E+00 | grad norm: 1 |\n"
      "| **BF16**   | ~11.65s   | 1158 TFLOP/s/GPU |         -       |  Any GPU |\n"
      "| Precision  | Step Time | GPU utilization: | Speedup |\n"
      "The Step Time : 9s at a GPU utilization: of 50 TFLOP/s/GPU is good\n"
      "time (ms) | forward-compute: 306.62 | grad norm: 1.0 |\n");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.facts.dialect, Dialect::unknown);
}

TEST(MegatronStepTimeLine, IsReadInEveryFormThatPrintfGivesIt) {
  const auto tflops_of = [](const std::string& line) -> std::optional<double> {
    const ParsedLog log = parse_log(line + "\n");
    return log.samples.size() == 1 ? log.samples[0].tflops_per_gpu : std::nullopt;
  };
  EXPECT_EQ(tflops_of("Step Time:9s GPU utilization:50TFLOP/s/GPU"), 50);
  EXPECT_EQ(tflops_of("Step Time \t: 9.5s\t GPU utilization: 1.5e+03 MODEL_TFLOP/s/GPU"), 1500);
  EXPECT_EQ(tflops_of("Step Time : nans GPU utilization: 50.TFLOP/s/GPU"), 50);
  // Read as a step, but not as a number of FLOP/s.
  for (const char* printed : {"nan", "-nan", "-inf", "-50", "0.0"}) {
    const std::string line = std::string("Step Time : 9s GPU utilization: ") + printed;
    EXPECT_EQ(parse_log(line + "TFLOP/s/GPU\n").samples.size(), 1U) << printed;
    EXPECT_EQ(tflops_of(line + "TFLOP/s/GPU"), std::nullopt) << printed;
  }
  for (const char* line : {
           "Step Time : 9sGPU utilization: 50TFLOP/s/GPU",
           "Step Time : 9 s GPU utilization: 50TFLOP/s/GPU",
           "Step Time : -nans GPU utilization: 50TFLOP/s/GPU",
           "Step Time : -s GPU utilization: 50TFLOP/s/GPU",
           "Step Time : 9s GPU utilization: 50e TFLOP/s/GPU",
           "Step Time : 9s GPU utilization: 50MODEL_ TFLOP/s/GPU",
           "Step Time 9s GPU utilization: 50TFLOP/s/GPU",
       }) {
    EXPECT_TRUE(parse_log(std::string(line) + "\n").samples.empty()) << line;
  }
}

TEST(MegatronLine, ThatCannotBeReadIsCounted) {
  const ParsedLog log = parse_log(
      "tion 7/ 50 | elapsed time per iteration (ms): 20.5 | learning rate: 1 |\n"
      " iteration 8/ 50 | consumed samples: 9 | elapsed time per iteration (ms): abc | grad norm: "
      "1 | "
      "number of nan iterations:   0 |\n");
  EXPECT_EQ(log.facts.lines_not_understood, 2);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, std::nullopt);
}

// On a line of many records no more than what stands right before each is looked at.
TEST(MegatronLine, TakesNoInstantFromFarBeforeIt) {
  const auto logged_at = [](std::size_t between) {
    const ParsedLog log = parse_log("[2025-12-22 15:18:33" + std::string(between, ' ') + "]" +
                                    iteration_line(4, "20.1") + "\n");
    return log.samples.at(0).logged_at;
  };
  EXPECT_EQ(logged_at(7), "2025-12-22T15:18:33");
  EXPECT_EQ(logged_at(200), "");
}

TEST(MegatronRestart, BeginsANewSegment) {
  const ParsedLog log =
      parse_log(iteration_line(4, "20.1") + "\n" + iteration_line(5, "20.2") + "\n" +
                iteration_line(3, "90.1") + "\n" + iteration_line(4, "20.3") + "\n");
  ASSERT_EQ(log.facts.segments.size(), 2U);
  EXPECT_EQ(log.facts.segments[1].first_iteration, 3);
  ASSERT_EQ(log.samples.size(), 4U);
  EXPECT_EQ(log.samples[3].segment, 1);
}

TEST(MegatronLine, OfALogIntervalIsOneStep) {
  const ParsedLog log =
      parse_log(iteration_line(10, "20.1") + "\n" + iteration_line(20, "20.2") + "\n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.facts.segments.size(), 1U);
}

std::string step_time_line(const std::string& time_s, double tflops,
                           const std::string& unit = "MODEL_TFLOP/s/GPU") {
  return "Step Time : " + time_s + "s GPU utilization: " + std::to_string(tflops) + unit;
}

TEST(MegatronBridge, StepTimeLinesAloneAreNumberedByPosition) {
  for (const int count : {1, 8, 9, 30}) {
    std::string text;
    for (int i = 0; i < count; ++i) text += step_time_line("2.22", 100 + i) + "   # note\n";
    const ParsedLog log = parse_log(text);
    EXPECT_EQ(log.facts.dialect, Dialect::megatron_bridge);
    ASSERT_EQ(log.samples.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(log.samples.front().iteration, 1);
    EXPECT_EQ(log.samples.back().iteration, count);
    EXPECT_FALSE(log.samples.back().iteration_is_logged);
    EXPECT_EQ(log.samples.back().tflops_per_gpu, 100 + count - 1);
    EXPECT_EQ(log.samples.back().step_time_s, 2.22);
    EXPECT_NEAR(log.samples.back().step_time_resolution_s, 0.005, 1e-12);
  }
}

TEST(MegatronBridge, IsToldByItsStepTimeLinesInEitherOrder) {
  const std::string a = step_time_line("0.02", 663.5, "TFLOP/s/GPU") + "\n";
  const std::string b = iteration_line(1, "20.1") + "\n";
  for (const std::string& text : {a + b, b + a}) {
    const ParsedLog log = parse_log(text);
    EXPECT_EQ(log.facts.dialect, Dialect::megatron_bridge);
    ASSERT_EQ(log.samples.size(), 1U);
    EXPECT_EQ(log.samples[0].iteration, 1);
    EXPECT_EQ(log.samples[0].step_time_s, 0.0201);
    EXPECT_EQ(log.samples[0].tflops_per_gpu, 663.5);
  }
  EXPECT_EQ(parse_log(b).facts.dialect, Dialect::megatron_lm);
}

TEST(MegatronBridge, GluedKindsAreBothRead) {
  const ParsedLog log = parse_log(step_time_line("0.02", 50) + "[Rank 0] (after 1 iterations)" +
                                  iteration_line(1, "20.1") + step_time_line("0.03", 60) +
                                  iteration_line(2, "30.1") + "\n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 50);
  EXPECT_EQ(log.samples[1].tflops_per_gpu, 60);
}

TEST(MegatronBridge, ThroughputOnTheIterationLineStands) {
  const ParsedLog log = parse_log(step_time_line("0.02", 50) +
                                  "\n iteration 1/ 9 | consumed samples: 1 | elapsed time per "
                                  "iteration (ms): 20.1 | throughput "
                                  "per GPU (TFLOP/s/GPU): 77.0 | number of nan iterations: 0 |\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 77);
}

TEST(MegatronBridge, UnknownTflopsLeaveTheStepTimeAlone) {
  for (const double unknown : {0.0, -1.0}) {
    const ParsedLog log =
        parse_log(step_time_line("0.02", unknown) + "\n" + iteration_line(1, "20.1") + "\n" +
                  step_time_line("0.03", 60) + "\n" + iteration_line(2, "30.1") + "\n");
    ASSERT_EQ(log.samples.size(), 2U);
    EXPECT_EQ(log.samples[0].tflops_per_gpu, std::nullopt);
    EXPECT_EQ(log.samples[0].step_time_s, 0.0201);
    EXPECT_EQ(log.samples[1].tflops_per_gpu, 60);
  }
}

}  // namespace
}  // namespace llmb::parser
