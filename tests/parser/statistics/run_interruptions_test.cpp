// What a run's summary says of checkpoints, evaluations and profiles inside its window, and of
// rates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/statistics/run_summary.h"
#include "parser/step_interruption.h"

namespace llmb::parser {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Log {
  std::vector<StepSample> samples;
  LogFacts facts;

  RunSummary summarize() const { return summarize_run(samples, facts, {11, 44}, false); }
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

TEST(RunInterruptions, AreNamedInTheReason) {
  const RunSummary summary = interrupted_steps().summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("; steps of the window are touched by checkpoint: 20; evaluation: 30, 31"));
  EXPECT_THAT(fifty_steps().summarize().status_reason, Not(HasSubstr("touched")));
}

TEST(RunInterruptions, OfManyStepsAreNamedInPart) {
  Log log = fifty_steps();
  for (StepSample& sample : log.samples) sample.extra_fields = {{std::string(kIsProfiled), 1}};
  EXPECT_THAT(log.summarize().status_reason,
              HasSubstr("touched by profile: 11, 12, 13, 14, 15, 16 and 28 more"));
}

}  // namespace
}  // namespace llmb::parser
