#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

TEST(VerlLine, BecomesOneSample) {
  const ParsedLog log = parse_log(
      "(TaskRunner pid=812) step:3 - actor/pg_loss:-0.0125 - actor/grad_norm:np.float64(0.25) - "
      "perf/max_memory_reserved_gb:2.0 - val-core/gsm8k/acc/mean@1:0.5 - timing_s/gen:16.25 - "
      "timing_per_token_ms/gen:0.17 - perf/time_per_step:48.75 - perf/throughput:3283.5\n");
  EXPECT_EQ(log.facts.dialect, Dialect::verl);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 3);
  EXPECT_EQ(log.samples[0].step_time_s, 48.75);
  EXPECT_EQ(log.samples[0].loss, -0.0125);
  EXPECT_EQ(log.samples[0].grad_norm, 0.25);
  EXPECT_EQ(log.samples[0].memory_bytes_max, 2.0 * 1024 * 1024 * 1024);
  EXPECT_THAT(log.samples[0].extra_fields,
              ElementsAre(Pair("timing_s/gen", 16.25), Pair("tps", 3283.5)));
}

TEST(VerlLine, HasItsTimeFromTheStepsOwnTimerWhereItHasNoOther) {
  const ParsedLog log = parse_log(
      "(TaskRunner pid=880) step:4 - actor/pg_loss:0.0242 - actor/grad_norm:0.213 - "
      "timing_s/gen:121.2 - timing_s/step:185.54 - perf/throughput:1397.83\n");
  EXPECT_EQ(log.facts.dialect, Dialect::verl);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, 185.54);
}

TEST(VerlLine, OfAValidationIsNoStep) {
  const ParsedLog log = parse_log(
      "step:0 - val-core/gsm8k/acc/mean@1:0.33\n- perf/time_per_step: mean=28.3 min=25.3 max=61\n");
  EXPECT_TRUE(log.samples.empty());
}

TEST(VerlLine, OfSupervisedTrainingIsAStep) {
  const ParsedLog log =
      parse_log("step:7 - train/loss:1.25 - train/lr(1e-3):0.01 - train/time(s):0.81\n");
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, 0.81);
  EXPECT_EQ(log.samples[0].learning_rate, 1e-5);
}

std::string block(int step) {
  return "\n========================= Step " + std::to_string(step) +
         "/2 =========================\n  \u2022 Loss: 0.1250\n  \u2022 Avg Reward: 0.5000\n"
         "  \u2022 Training FLOPS: 1024.00 TFLOPS (128.00 TFLOPS per rank)\n"
         "  \u2022 Total step time: 41.20s\n  \u2022 generation: 20.00s (48.5%)\n"
         "    - E2E (Samples/sec/gpu): 0.39\n    - E2E (Tokens/sec/gpu): 277.50\n"
         "    - Policy Training (Tokens/sec/gpu): 880.25\n";
}

TEST(NemoRlBlock, BecomesOneSample) {
  const ParsedLog log = parse_log(block(1));
  EXPECT_EQ(log.facts.dialect, Dialect::nemo_rl);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 1);
  EXPECT_EQ(log.samples[0].step_time_s, 41.2);
  EXPECT_EQ(log.samples[0].loss, 0.125);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 128);
  EXPECT_THAT(log.samples[0].extra_fields, ElementsAre(Pair("Avg Reward", 0.5), Pair("tps", 277.5),
                                                       Pair("Policy Training tps", 880.25)));
  EXPECT_EQ(log.facts.declared_last_iteration, 2);
}

TEST(NemoRlBlock, OfALaterEpochCountsOn) {
  const std::string epoch = "========================= Epoch ";
  const ParsedLog log = parse_log(epoch + "1/2 =====\n" + block(1) + block(2) + epoch +
                                  "2/2 =====\n" + block(1) + block(2));
  ASSERT_EQ(log.samples.size(), 4U);
  EXPECT_EQ(log.samples[3].iteration, 4);
  EXPECT_EQ(log.facts.segments.size(), 1U);
}

TEST(NemoRlBlock, WithoutItsHeadingIsRefused) {
  const ParsedLog log = parse_log("  \u2022 Total step time: 41.20s\n");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(AutomodelLine, BecomesOneSampleWithoutATime) {
  const ParsedLog log = parse_log(
      "2026-03-16 03:15:19 | INFO | __main__ | step 10 | epoch 1 | loss 2.1034 | grad_norm 1.2500 "
      "| lr 1.00e-05 | mem 20.50 GiB | tps 12345.67(1543.21/gpu) | num_label_tokens 8192\n"
      "2026-03-16 03:15:20 | INFO | __main__ | [val] step 10 | epoch 1 | loss 2.3 | lr 1.00e-05 | "
      "num_label_tokens 120000\n");
  EXPECT_EQ(log.facts.dialect, Dialect::automodel);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 10);
  EXPECT_EQ(log.samples[0].epoch, 1);
  EXPECT_EQ(log.samples[0].loss, 2.1034);
  EXPECT_EQ(log.samples[0].memory_bytes_max, 20.5 * 1024 * 1024 * 1024);
  EXPECT_EQ(log.samples[0].logged_at, "2026-03-16T03:15:19");
  EXPECT_FALSE(log.samples[0].step_time_s);
  EXPECT_THAT(log.samples[0].extra_fields,
              ElementsAre(Pair("tps_of_all_gpus", 12345.67), Pair("tps", 1543.21),
                          Pair("num_label_tokens", 8192)));
}

TEST(AutomodelLine, OfItsBenchmarkHasATimeInTheNextOne) {
  const auto step = [](int iteration, const std::string& seconds) {
    const std::string line =
        "2026-03-16 03:15:19 | INFO | __main__ | Rank 0 | Iteration " + std::to_string(iteration);
    const std::string tokens =
        line + " | num_label_tokens=8192 | Max Memory Allocated: 20.50 GB | loss=2.1034\n";
    return line + "\n" + tokens + tokens +
           "2026-03-16 03:15:20 | INFO | __main__ | Max iter time: " + seconds +
           " seconds\n2026-03-16 03:15:20 | INFO | __main__ | MFU: 41.250000%\n";
  };
  const ParsedLog log = parse_log(
      "MFU: 3.0%\n" + step(0, "9.125000") + step(1, "2.654321") +
      "2026-03-16 03:15:21 | INFO | __main__ | Average MFU: 40.000000% (all 2 iterations)\n");
  EXPECT_EQ(log.facts.dialect, Dialect::automodel);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].step_time_s, 9.125);
  const StepSample& sample = log.samples[1];
  EXPECT_EQ(sample.iteration, 1);
  EXPECT_EQ(sample.step_time_s, 2.654321);
  EXPECT_NEAR(sample.step_time_resolution_s, 5e-7, 1e-12);
  EXPECT_EQ(sample.loss, 2.1034);
  EXPECT_EQ(sample.memory_bytes_max, 20.5 * 1024 * 1024 * 1024);
  EXPECT_THAT(sample.extra_fields,
              ElementsAre(Pair("num_label_tokens", 8192), Pair("mfu", 0.4125)));
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

TEST(AutomodelLine, OfItsBenchmarkThatCannotBeReadIsCounted) {
  EXPECT_EQ(parse_log("Rank 0 | Iteration x | num_label_tokens=8 | loss=2.1\n")
                .facts.lines_not_understood,
            1);
  EXPECT_EQ(parse_log("Rank 0 | Iteration 1 | num_label_tokens=8 | loss=2.1\n"
                      "Max iter time: soon\n")
                .facts.lines_not_understood,
            1);
}

TEST(NanotronLine, BecomesOneSample) {
  const ParsedLog log = parse_log(
      "12/21 01:39:51 [INFO|DP=0|TP=0|node]: iteration: 211364 / 1500000 | consumed_tokens: 480B | "
      "time_per_iteration_ms: 8.79K | tokens_per_sec: 182K | tokens_per_sec_per_gpu: 699 | "
      "global_batch_size: 1.6M | grad_norm: 0.112 | lm_loss: 2.04 | lr: 0.0001 | "
      "model_tflops_per_gpu: 15.4 | eta: 131 days, 1:45:39\n");
  EXPECT_EQ(log.facts.dialect, Dialect::nanotron);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 211364);
  EXPECT_EQ(log.samples[0].step_time_s, 8.79);
  EXPECT_NEAR(log.samples[0].step_time_resolution_s, 0.005, 1e-12);
  EXPECT_EQ(log.samples[0].tflops_per_gpu, 15.4);
  EXPECT_THAT(log.samples[0].extra_fields, Contains(Pair("tps", 699)));
  EXPECT_EQ(log.facts.declared_last_iteration, 1500000);
}

TEST(NanotronLine, WithoutAnIterationIsRefused) {
  const ParsedLog log = parse_log("iteration: x / 5 | time_per_iteration_ms: 8.79K\n");
  EXPECT_TRUE(log.samples.empty());
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

// Every log of this project's collection is claimed by its own reader (GoldenLogs holds that);
// here, that no reader takes a step from one that prints none of its lines.
TEST(NewReaders, LeaveAHealthyStartAlone) {
  const ParsedLog log = parse_log(
      "Map: 100%|##########| 1000/1000 [00:00<00:00, 5000.00 examples/s]\n"
      "100%|##########| 5/5 [00:01<00:00,  3.10it/s]\n"
      "Loading checkpoint shards: 100%|####| 4/4 [00:06<00:00,  1.51s/it]\n"
      "[2026-03-07 15:20:02,646] [INFO] [config.py:1003:print]   train_batch_size ............. 1\n"
      ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1760033997670, \"key\": \"init_start\"}\n"
      "========================= Step 1/100 =========================\n"
      "step 1 of the setup | num_label_tokens are counted\n");
  EXPECT_EQ(log.facts.dialect, Dialect::unknown);
  EXPECT_TRUE(log.samples.empty());
  EXPECT_TRUE(log.facts.events.empty());
  EXPECT_EQ(log.facts.lines_not_understood, 0);
}

}  // namespace
}  // namespace llmb::parser
