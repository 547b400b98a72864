// What a run's summary says of checkpoints, evaluations and profiles inside its window, and of
// rates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"
#include "parser/statistics/time_source.h"

namespace llmb::parser {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Log {
  std::vector<StepSample> samples;
  LogFacts facts;

  RunSummary summarize(const StepInterruptionSet& without = {}) const {
    return summarize_run(samples, facts, {11, 44}, false, {}, without);
  }
};

// Steps 0 to 49, of 2 s and 3 s in turn.
Log fifty_steps() {
  Log log;
  log.facts.dialect = Dialect::nemo;
  log.facts.declared_last_iteration = 49;
  SegmentFacts segment;
  segment.last_iteration = 49;
  segment.step_count = 50;
  log.facts.segments = {segment};
  for (std::int64_t i = 0; i < 50; ++i) {
    StepSample sample;
    sample.iteration = i;
    sample.step_time_s = 2.0 + static_cast<double>(i % 2);
    sample.tflops_per_gpu = 500;
    log.samples.push_back(sample);
  }
  return log;
}

Log interrupted_steps() {
  Log log = fifty_steps();
  log.samples[20].extra_fields = {{std::string(kAfterCheckpoint), 1}};
  log.samples[20].step_time_s = 9;
  log.samples[30].extra_fields = {{std::string(kAfterEvaluation), 1}};
  log.samples[31].extra_fields = {{std::string(kAfterEvaluation), 1}};
  log.samples[46].extra_fields = {{std::string(kIsProfiled), 1}};
  return log;
}

TEST(RunInterruptions, AreNamed) {
  const RunSummary summary = interrupted_steps().summarize();
  EXPECT_EQ(summary.window_interruptions, "checkpoint: 20; evaluation: 30, 31");
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("; steps of the window are touched by checkpoint: 20; evaluation: 30, 31"));
  EXPECT_EQ(summary.steps_left_out, 0);
  EXPECT_EQ(summary.step_time_s->max, 9);
  EXPECT_THAT(fifty_steps().summarize().window_interruptions, IsEmpty());
}

TEST(RunInterruptions, OfManyStepsAreNamedInPart) {
  Log log = fifty_steps();
  for (StepSample& sample : log.samples) sample.extra_fields = {{std::string(kIsProfiled), 1}};
  EXPECT_EQ(log.summarize().window_interruptions, "profile: 11, 12, 13, 14, 15, 16 and 28 more");
}

TEST(RunInterruptions, AreLeftOutWhereTheyAreNotWanted) {
  const Log log = interrupted_steps();
  const RunSummary summary = log.summarize({StepInterruption::checkpoint});
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_TRUE(summary.window_is_whole);
  EXPECT_EQ(summary.steps_left_out, 1);
  EXPECT_EQ(summary.step_time_s->count, 33);
  EXPECT_EQ(summary.step_time_s->max, 3);
  EXPECT_EQ(summary.tflops_per_gpu->count, 33);
  EXPECT_THAT(summary.status_reason, HasSubstr("; 1 step of it left out"));
  EXPECT_EQ(
      log.summarize({StepInterruption::checkpoint, StepInterruption::evaluation}).steps_left_out,
      3);
  EXPECT_EQ(log.summarize({StepInterruption::profile}).step_time_s->count, 34);
}

// What was left out is no hole, in words as in numbers.
TEST(RunInterruptions, ThatAreLeftOutAreNotMissing) {
  Log log = interrupted_steps();
  log.samples[40].step_time_s.reset();
  const RunSummary summary = log.summarize({StepInterruption::checkpoint});
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_EQ(summary.iterations_missing_in_window, 1);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("1 of the 34 iterations in the window 11-44 have no step time, the first "
                        "is 40"));
}

TEST(RunInterruptions, OfAllStepsLeaveNoNumber) {
  Log log = fifty_steps();
  for (StepSample& sample : log.samples) sample.extra_fields = {{std::string(kIsProfiled), 1}};
  const RunSummary summary = log.summarize({StepInterruption::profile});
  EXPECT_EQ(summary.steps_left_out, 34);
  EXPECT_FALSE(summary.step_time_s);
}

// Of torchtitan and others, which print rates and no times.
Log with_rates_only(Log log) {
  for (StepSample& sample : log.samples) {
    sample.step_time_s.reset();
    sample.extra_fields = {{"tps", 1000}};
  }
  return log;
}

TEST(PrintedTokenRates, StandForTheIntervalOfTheirLine) {
  Log log = with_rates_only(fifty_steps());
  log.facts.dialect = Dialect::torchtitan;
  log.facts.declared_last_iteration.reset();
  std::erase_if(log.samples, [](const StepSample& sample) { return sample.iteration % 10 != 0; });
  log.samples.erase(log.samples.begin());
  log.facts.segments[0].first_iteration = 10;
  log.facts.segments[0].last_iteration = 40;
  log.facts.segments[0].step_count = 4;
  EXPECT_THAT(
      log.summarize().status_reason,
      HasSubstr("every 10 iterations, so only 3 of the 34 in the window 11-44 have a rate"));
  StepSample last = log.samples.back();
  last.iteration = 50;
  log.samples.push_back(last);
  log.facts.segments[0].last_iteration = 50;
  log.facts.segments[0].step_count = 5;
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete) << summary.status_reason;
  EXPECT_EQ(summary.iterations_missing_in_window, 0);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("a line is the mean of 10 iterations, and the window holds 3 lines"));
}

TEST(PrintedTokenRates, AreCountedWhereSomeAreMissing) {
  Log log = with_rates_only(fifty_steps());
  log.samples.resize(31);
  log.facts.segments[0].last_iteration = 30;
  log.facts.segments[0].step_count = 31;
  EXPECT_EQ(log.summarize().iterations_missing_in_window, 14);
  log = with_rates_only(fifty_steps());
  log.samples[20].extra_fields.clear();
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.iterations_missing_in_window, 1);
  EXPECT_THAT(
      summary.status_reason,
      HasSubstr("1 of the 34 iterations in the window 11-44 have no rate, the first is 20"));
}

TEST(PrintedTokenRates, HaveAMean) {
  Log log = fifty_steps();
  for (StepSample& sample : log.samples) {
    sample.step_time_s.reset();
    sample.tflops_per_gpu.reset();
    sample.extra_fields = {{"tps", 1000.0 + static_cast<double>(sample.iteration % 2)}};
  }
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.printed_tokens_per_s_per_gpu, 1000.5);
  EXPECT_FALSE(summary.step_time_s);
  EXPECT_FALSE(fifty_steps().summarize().printed_tokens_per_s_per_gpu);
}

// AMD's Primus prints its first steps by the first name, and both a step's rate and a mean.
TEST(PrintedTokenRates, AreThoseOfPrimusToo) {
  std::string text;
  for (int step = 1; step <= 50; ++step) {
    const std::string name =
        step < 40 ? "tokens per GPU (tokens/s/GPU): " : "tokens/s/GPU inst/harmonic mean: ";
    text += " iteration " + std::to_string(step) +
            "/ 50 | consumed samples: 64 | elapsed time per iteration (ms): 654.5/735.1 | "
            "throughput per GPU (TFLOP/s/GPU): 1290.3/1162.8 | " +
            name + (step % 2 == 0 ? "1000.0" : "1001.0") + (step < 3 ? "" : "/990.5") +
            " | lm loss: 1.1E+01 | number of skipped iterations:   0 | number of nan iterations:   "
            "0 |\n";
  }
  const ParsedLog log = parse_log(text);
  const RunSummary summary = summarize_run(log.samples, log.facts, {35, 44}, false);
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.printed_tokens_per_s_per_gpu, 1000.5);
}

TEST(TimeSource, IsToldInTheReasonAndAsAWord) {
  Log log = fifty_steps();
  EXPECT_EQ(time_source(log.summarize()), "printed");
  log.samples[20].extra_fields.emplace_back(kTimeIsFromRate, 1);
  EXPECT_EQ(time_source(log.summarize()), "rate");
  EXPECT_THAT(log.summarize().status_reason,
              HasSubstr("; its step times follow from the rates that its lines print"));
  // Outside the window, or without times.
  log.samples[20].extra_fields.clear();
  log.samples[3].extra_fields.emplace_back(kTimeIsFromRate, 1);
  EXPECT_EQ(time_source(log.summarize()), "printed");
  EXPECT_FALSE(time_source(with_rates_only(fifty_steps()).summarize()));
}

TEST(PrintedEnergies, HaveAMean) {
  Log log = fifty_steps();
  for (StepSample& sample : log.samples) {
    const double energy = sample.iteration == 20 ? std::nan("") : 1992.0;
    sample.extra_fields = {{"energy per GPU (J/iter/GPU)", energy}, {"power per GPU (W/GPU)", 5}};
  }
  EXPECT_EQ(log.summarize().energy_j_per_gpu_mean, 1992.0);
  EXPECT_FALSE(fifty_steps().summarize().energy_j_per_gpu_mean);
}

}  // namespace
}  // namespace llmb::parser
