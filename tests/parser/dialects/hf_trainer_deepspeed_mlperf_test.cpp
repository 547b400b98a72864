#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using testing::Contains;
using testing::Pair;

std::string bar(int step, int total, std::string_view rate) {
  return fmt::format("\r {:2}%|##        | {}/{} [00:23<07:16,  {}]", step * 100 / total, step,
                     total, rate);
}

std::string metrics(double loss) {
  return fmt::format("{{'loss': {}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.22}}\n",
                     loss);
}

TEST(HfTrainerLine, HasTheStepAndTheTimeOfTheBarBeforeIt) {
  const ParsedLog log =
      parse_log(bar(9, 200, "2.40s/it") + bar(10, 200, "2.31s/it") + "\r" + metrics(1.3114) +
                bar(10, 200, "2.31s/it") + bar(20, 200, "4.00it/s") + "\r" + metrics(1.2));
  EXPECT_EQ(log.facts.dialect, Dialect::hf_trainer);
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].iteration, 10);
  EXPECT_EQ(log.samples[0].step_time_s, 2.31);
  EXPECT_NEAR(log.samples[0].step_time_resolution_s, 0.005, 1e-12);
  EXPECT_EQ(log.samples[0].loss, 1.3114);
  EXPECT_EQ(log.samples[0].grad_norm, 1.5);
  EXPECT_EQ(log.samples[0].learning_rate, 5e-05);
  EXPECT_EQ(log.samples[1].iteration, 20);
  EXPECT_EQ(log.samples[1].step_time_s, 0.25);
  EXPECT_EQ(log.facts.declared_last_iteration, 200);
}

TEST(HfTrainerLine, IsNumberedByPositionWhereNoBarIsBetween) {
  const ParsedLog log =
      parse_log(bar(80, 200, "2.40s/it") + "\n" + metrics(1.5) + metrics(1.4) + metrics(1.3));
  ASSERT_EQ(log.samples.size(), 3U);
  EXPECT_EQ(log.samples[0].iteration, 1);
  EXPECT_EQ(log.samples[2].iteration, 3);
  EXPECT_FALSE(log.samples[0].iteration_is_logged);
  EXPECT_FALSE(log.samples[0].step_time_s);
}

TEST(HfTrainerLine, ThatALoggerPrintsTooIsOneStep) {
  const std::string first = metrics(1.5);
  const ParsedLog log = parse_log(bar(10, 200, "2.40s/it") + "\r" + "[INFO|callbacks.py:143] >> " +
                                  first + first + bar(10, 200, "2.40s/it") +
                                  bar(20, 200, "2.30s/it") + "\r" + metrics(1.4) + metrics(1.4));
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[0].iteration, 10);
  EXPECT_EQ(log.samples[1].iteration, 20);
}

TEST(HfTrainerLine, TakesNoStepFromOtherBars) {
  const ParsedLog log =
      parse_log("Loading checkpoint shards: 100%|####| 4/4 [00:06<00:00,  1.51s/it]\n" +
                bar(10, 200, "2.40s/it") + "\r" + metrics(1.5) + bar(10, 200, "2.40s/it") +
                "\r 50%|#####     | 28/56 [00:06<00:00,  9.51it/s]" + bar(11, 200, "2.30s/it") +
                "\r" + metrics(1.4));
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_EQ(log.samples[1].iteration, 11);
  EXPECT_EQ(log.samples[1].step_time_s, 2.3);
}

TEST(HfTrainerLine, OfAnEvaluationIsNoStep) {
  const ParsedLog log = parse_log(
      bar(10, 200, "2.40s/it") +
      "\n{'eval_loss': 2.1, 'eval_runtime': 2.7, 'epoch': 1.0}\n"
      "{'train_runtime': 144.0, 'train_steps_per_second': 0.8, 'train_loss': 1.8, 'epoch': 3.0}\n");
  EXPECT_TRUE(log.samples.empty());
  ASSERT_EQ(log.facts.events.size(), 1U);
  EXPECT_EQ(log.facts.events[0].cause, "training_done");
}

std::string engine(int step, double rate) {
  return fmt::format(
      "[2026-03-07 15:27:02,646] [INFO] [timer.py:264:stop] epoch=0/micro_step={}/global_step={}, "
      "RunningAvgSamplesPerSec=25.1, CurrSamplesPerSec={}, MemAllocated=4.0GB, "
      "MaxMemAllocated=38.5GB\n",
      step * 4, step, rate);
}
constexpr std::string_view kBatch =
    "[2026-03-07 15:20:02,646] [INFO] [config.py:1003:print]   train_batch_size ............. "
    "128\n";

TEST(DeepspeedLine, HasATimeWhereTheBatchIsKnown) {
  const ParsedLog log = parse_log(
      std::string(kBatch) +
      "[2026-03-07 15:27:02,640] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=4, "
      "lr=[4.5e-05, 4.5e-05], mom=[(0.9, 0.95)]\n" +
      engine(10, 32));
  EXPECT_EQ(log.facts.dialect, Dialect::deepspeed);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 10);
  EXPECT_EQ(log.samples[0].step_time_s, 4);
  EXPECT_EQ(log.samples[0].learning_rate, 4.5e-05);
  EXPECT_EQ(log.samples[0].global_batch_size, 128);
  EXPECT_EQ(log.samples[0].memory_bytes_allocated, 4.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(log.samples[0].logged_at, "2026-03-07T15:27:02.646");
}

TEST(DeepspeedLine, OfUnknownBatchHasARateOnly) {
  const ParsedLog log = parse_log(engine(10, 32));
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_FALSE(log.samples[0].step_time_s);
  EXPECT_THAT(log.samples[0].extra_fields, Contains(Pair("samples_per_s", 32)));
}

TEST(DeepspeedLine, OfThePipelineEngineGivesTheTime) {
  const std::string pipeline = "steps: 10 loss: 5.5508 iter time (s): 3.936 samples/sec: 136.706\n";
  for (const std::string& both :
       {pipeline + engine(10, 32), std::string(engine(10, 32)) + pipeline}) {
    const ParsedLog log = parse_log(std::string(kBatch) + both);
    ASSERT_EQ(log.samples.size(), 1U);
    EXPECT_EQ(log.samples[0].step_time_s, 3.936);
    EXPECT_EQ(log.samples[0].loss, 5.5508);
    EXPECT_EQ(log.samples[0].global_batch_size, 128);
  }
}

// Its first steps are held back: a failure below them came after them all the same.
TEST(DeepspeedLine, StandsBeforeTheFailureBelowIt) {
  const ParsedLog log = parse_log("CUDA error: unknown error\n" + engine(10, 32) + engine(20, 32) +
                                  "RuntimeError: still have inflight params\n");
  ASSERT_EQ(log.facts.events.size(), 2U);
  EXPECT_EQ(log.facts.events[0].steps_before, 0);
  EXPECT_EQ(log.facts.events[1].steps_before, 2);
}

TEST(DeepspeedLine, GivesWayToTheProgramThatUsesIt) {
  std::string text;
  for (int step = 1; step <= 10; ++step) text += engine(step, 32);
  text +=
      " iteration       10/     100 | consumed samples:         1280 | elapsed time per iteration "
      "(ms): 4000.0 | learning rate: 1.0E-04 | global batch size:   128 | lm loss: 5.9E+00 |\n";
  const ParsedLog log = parse_log(text);
  EXPECT_EQ(log.facts.dialect, Dialect::megatron_lm);
  EXPECT_EQ(log.samples.size(), 1U);
}

TEST(DeepspeedLine, WaitsOnlyForALimitedNumber) {
  LogReader reader;
  for (int step = 1; step <= 11; ++step) reader.feed(engine(step, 32));
  EXPECT_TRUE(reader.take_samples().empty());
  reader.feed(engine(12, 32));
  EXPECT_EQ(reader.take_samples().size(), 12U);
  reader.feed(engine(13, 32));
  EXPECT_EQ(reader.take_samples().size(), 1U);
}

std::string mlperf(std::string_view key, std::string_view value, std::string_view metadata) {
  return fmt::format(
      ":::MLLOG {{\"namespace\": \"\", \"time_ms\": 1760033997670, \"event_type\": "
      "\"POINT_IN_TIME\", \"key\": \"{}\", \"value\": {}, \"metadata\": {{\"file\": \"a.py\", "
      "\"lineno\": 350, {}}}}}\n",
      key, value, metadata);
}

TEST(MlperfLine, WithAStepTimeIsAStep) {
  const ParsedLog log = parse_log(
      mlperf("tracked_stats", R"({"train_step_time": 0.3356, "loss": 7.5})", R"("step": 31)"));
  EXPECT_EQ(log.facts.dialect, Dialect::mlperf);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 31);
  EXPECT_EQ(log.samples[0].step_time_s, 0.3356);
  EXPECT_EQ(log.samples[0].loss, 7.5);
  EXPECT_EQ(log.samples[0].logged_at, "2025-10-09T18:19:57.670000");
}

TEST(MlperfLine, WithSamplesPerSecondCountsByTheBatch) {
  const ParsedLog log =
      parse_log(mlperf("global_batch_size", "8", R"("x": 1)") +
                mlperf("tracked_stats", R"({"throughput": 2.0})", R"("step": 3072)") +
                mlperf("eval_accuracy", "0.925", R"("samples_count": 3072)") +
                mlperf("tracked_stats", R"({"validation_time": 12.5})", R"("step": 3072)"));
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 384);
  EXPECT_EQ(log.samples[0].step_time_s, 4);
  EXPECT_THAT(log.samples[0].extra_fields, Contains(Pair("eval_accuracy", 0.925)));
}

TEST(MlperfLine, GivesWayToTheSubmissionsOwnStepLines) {
  const ParsedLog log = parse_log(
      mlperf("tracked_stats", R"({"train_step_time": 0.3356})", R"("step": 31)") +
      "Training epoch 0, iteration 31/49 | lr: 3e-06 | global_batch_size: 512 | global_step: 31 | "
      "reduced_train_loss: 11.2 | train_step_timing in s: 7.38\n");
  EXPECT_EQ(log.facts.dialect, Dialect::nemo);
  EXPECT_EQ(log.samples.size(), 1U);
}

bool is_from_rate(const StepSample& sample) {
  return std::ranges::any_of(sample.extra_fields,
                             [](const auto& field) { return field.first == kTimeIsFromRate; });
}

// Whichever line of the step comes first, a time that is printed is none of a rate.
TEST(StepTime, SaysWhetherItFollowsFromARate) {
  const std::string batch = mlperf("global_batch_size", "8", R"("x": 1)");
  const std::string rate = mlperf("tracked_stats", R"({"throughput": 2.0})", R"("step": 31)");
  const std::string time =
      mlperf("tracked_stats", R"({"train_step_time": 0.3356})", R"("step": 31)");
  const std::string size = "[config.py:1003:print]   train_batch_size ............. 32\n";
  const std::string rates =
      "epoch=0/micro_step=1/global_step=1, RunningAvgSamplesPerSec=8.0, "
      "CurrSamplesPerSec=8.0, MemAllocated=4.0GB\n";
  const std::string printed = "steps: 1 loss: 5.55 iter time (s): 0.936 samples/sec: 136.7\n";
  const std::vector<std::pair<std::string, bool>> cases = {
      {batch + time, false},           {batch + rate, true},           {batch + rate + time, false},
      {batch + time + rate, false},    {size + rates, true},           {size + printed, false},
      {size + rates + printed, false}, {size + printed + rates, false}};
  for (const auto& [text, expected] : cases) {
    const ParsedLog log = parse_log(text);
    ASSERT_EQ(log.samples.size(), 1U) << text;
    EXPECT_TRUE(log.samples[0].step_time_s) << text;
    EXPECT_EQ(is_from_rate(log.samples[0]), expected) << text;
  }
}

TEST(MlperfLine, ThatTheRunStoppedIsItsEnd) {
  const auto cause = [](std::string_view status) {
    const auto events =
        parse_log(mlperf("run_stop", "null", fmt::format(R"("status": "{}")", status)))
            .facts.events;
    const bool is_end = events.size() == 1 && events[0].kind == LogEvent::Kind::finish_marker;
    return is_end ? events[0].cause : std::string();
  };
  EXPECT_EQ(cause("success"), "training_done");
  EXPECT_EQ(cause("aborted"), kRunAborted);
  EXPECT_EQ(cause("unknown"), "");
}

}  // namespace
}  // namespace llmb::parser
