#include "parser/statistics/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "parser/statistics/status_reason.h"
#include "tests/parser/statistics/log_builder.h"

namespace llmb::parser {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunSummary, CallsALongSilenceHung) {
  const LogBuilder log = LogBuilder().run(0, 20);
  const auto summarize = [&](std::optional<double> silent_s, bool may_still_grow = false) {
    std::optional<Silence> silence;
    if (silent_s) silence = {*silent_s, 2.0};
    return summarize_run(log.samples, log.facts, {11, 44}, may_still_grow, silence);
  };
  EXPECT_EQ(summarize(600).failure_cause, "hung");
  EXPECT_EQ(summarize(600).status, RunStatus::incomplete);
  EXPECT_THAT(summarize(600).status_reason, HasSubstr("silent for over 600 s, 300 step times"));
  EXPECT_EQ(summarize(30).failure_cause, "");  // fifteen steps
  EXPECT_EQ(summarize({}).failure_cause, "");
  EXPECT_EQ(summarize(600).silent_s, 600);
  EXPECT_EQ(summarize(30).silent_s, std::nullopt);
  LogBuilder failed = log;
  failed.failure("time_limit", "DUE TO TIME LIMIT");
  const auto other = summarize_run(failed.samples, failed.facts, {11, 44}, false, Silence{600, 2});
  EXPECT_EQ(other.failure_cause, "time_limit");
  EXPECT_EQ(other.silent_s, std::nullopt);
}

TEST(RunSummary, OfASilenceOfADayTellsSinceWhenAndRaisesNoAlarm) {
  const LogBuilder log = LogBuilder().run(0, 20);
  Silence silence = {86'400, 2};
  silence.since = parse_instant("2024-01-01T23:59:59Z");
  const auto summarize = [&] {
    return summarize_run(log.samples, log.facts, {11, 44}, false, silence);
  };
  EXPECT_EQ(summarize().failure_cause, "");
  EXPECT_EQ(summarize().status, RunStatus::incomplete);
  EXPECT_EQ(summarize().silent_s, 86'400);
  EXPECT_THAT(summarize().status_reason,
              HasSubstr("; the log shows no cause, and is silent since 2024-01-01"));
  silence.since.reset();
  EXPECT_THAT(summarize().status_reason, HasSubstr("silent for 1 day"));
  silence.silent_s = 86'399;
  EXPECT_EQ(summarize().failure_cause, "hung");
  EXPECT_THAT(summarize().status_reason,
              HasSubstr("silent for over 24.0 h, 43199 step times: hung"));
}

TEST(RunSummary, CallsARunHungThatMayStillGrow) {
  const LogBuilder log = LogBuilder().run(0, 3);
  const auto summarize = [](const LogBuilder& of, Silence silence) {
    return summarize_run(of.samples, of.facts, {11, 44}, true, silence);
  };
  const RunSummary summary = summarize(log, {150, 7.5});
  EXPECT_EQ(summary.status, RunStatus::running);
  EXPECT_EQ(summary.failure_cause, "hung");
  EXPECT_EQ(summary.silent_s, 150);
  EXPECT_THAT(summary.status_reason, HasSubstr("the run is at iteration 3 of 49"));
  EXPECT_THAT(summary.status_reason, HasSubstr("the log is silent for over 150 s, 20 step times"));
  EXPECT_EQ(summarize(log, {149.9, 7.5}).failure_cause, "");
  EXPECT_EQ(summarize(log, {119.9, 1}).failure_cause, "") << "it may save a checkpoint";
  EXPECT_EQ(summarize(log, {120, 1}).failure_cause, "hung");
  EXPECT_EQ(summarize(log, {1e6, 0}).failure_cause, "") << "no step time to compare with";
  EXPECT_EQ(summarize(LogBuilder().run(0, 3).finish(), {150, 2.5}).failure_cause, "");
  EXPECT_EQ(summarize(LogBuilder().run(0, 49), {150, 2.5}).failure_cause, "");
}

TEST(RunSummary, KnowsTheTypicalStepTime) {
  EXPECT_EQ(typical_step_time_s({}), 0);
  EXPECT_EQ(typical_step_time_s({60, 2, 3, 0, -1, std::nan("")}), 3);
}

TEST(RunSummary, IsCompleteWithTheWholeWindowAndTheLastIteration) {
  const RunSummary summary = LogBuilder().run(0, 49).summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.status_reason, "window 11-44 is whole, and iteration 49 of 49 was reached");
  EXPECT_TRUE(summary.window_is_whole);
  EXPECT_EQ(summary.iterations_missing_in_window, 0);
  EXPECT_EQ(summary.segment_count, 1);
  EXPECT_EQ(summary.last_iteration, 49);
  ASSERT_TRUE(summary.step_time_s);
  EXPECT_EQ(summary.step_time_s->count, 34);
  EXPECT_DOUBLE_EQ(summary.step_time_s->mean, 2.5);
  ASSERT_TRUE(summary.tflops_per_gpu);
  EXPECT_EQ(summary.tflops_per_gpu->count, 34);
}

TEST(RunSummary, SaysOfACompleteRunThatItEndedShortOfItsTarget) {
  LogBuilder log = LogBuilder().run(0, 49).finish();
  EXPECT_THAT(log.summarize().status_reason, Not(HasSubstr("aborted")));
  log.facts.events.back().cause = kRunAborted;
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason, HasSubstr(kRunWasAborted));
}

// Of a document that makes its results of the last step: the window is then the newest one's.
TEST(RunSummary, DoesNotCallTheNewestStepAWholeWindowWhileARunGoesOn) {
  const auto log = LogBuilder().run(0, 14);
  EXPECT_EQ(log.summarize({14, 14}, true).status_reason,
            "window 14-14 is the newest step alone; the run is at iteration 14 of 49");
  EXPECT_THAT(log.summarize({14, 14}, false).status_reason, HasSubstr("window 14-14 is whole"));
  EXPECT_THAT(log.summarize({13, 14}, true).status_reason, HasSubstr("window 13-14 is whole"));
}

TEST(RunSummary, SaysOfARunThatDiedAfterItsWindowExactlyThat) {
  const auto log = LogBuilder().run(0, 46).failure("time_limit", "CANCELLED DUE TO TIME LIMIT");
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::failed);
  EXPECT_EQ(summary.status_reason,
            "window 11-44 is whole; the run ended at iteration 46 of 49: time_limit, 'CANCELLED "
            "DUE TO TIME LIMIT'");
  EXPECT_TRUE(summary.window_is_whole);
  EXPECT_EQ(log.summarize({11, 44}, true).status, RunStatus::failed);
}

// Slurm says that it ends a job, and the ranks go on until its signals reach them.
TEST(RunSummary, TakesStepsAfterTheSchedulersWordForTeardown) {
  for (const char* const cause : {"time_limit", "cancelled", "preempted"}) {
    const auto log = LogBuilder().run(0, 30).failure_before_last(5, cause, "CANCELLED AT 15:00");
    const RunSummary summary = log.summarize();
    EXPECT_EQ(summary.status, RunStatus::failed) << cause;
    EXPECT_EQ(summary.failure_cause, cause);
    EXPECT_EQ(summary.last_iteration, 30);
    EXPECT_EQ(ending_failure(log.facts, summary), &log.facts.events.back());
  }
  const auto before_the_window = LogBuilder().run(0, 8).failure_before_last(2, "cancelled", "");
  EXPECT_EQ(before_the_window.summarize().status, RunStatus::failed);
  // A minute of steps is no teardown, nor is a step after what a program survives.
  EXPECT_EQ(LogBuilder().run(0, 40).failure_before_last(28, "cancelled", "").summarize().status,
            RunStatus::incomplete);
  EXPECT_EQ(LogBuilder().run(0, 30).failure_before_last(1, "cuda_oom", "").summarize().status,
            RunStatus::incomplete);
  EXPECT_EQ(LogBuilder().run(0, 49).failure_before_last(3, "cancelled", "").summarize().status,
            RunStatus::complete);
}

TEST(RunSummary, IsIncompleteWhereARunEndsWithoutSayingWhy) {
  const auto log = LogBuilder().run(0, 30);
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_EQ(summary.status_reason,
            "the run ended at iteration 30 of 49, the window 11-44 needs iteration 44; the log "
            "shows no cause");
  EXPECT_EQ(summary.iterations_missing_in_window, 14);
  EXPECT_EQ(summary.step_time_s->count, 20);

  const RunSummary live = log.summarize({11, 44}, true);
  EXPECT_EQ(live.status, RunStatus::running);
  EXPECT_EQ(live.status_reason,
            "the run is at iteration 30 of 49, the window 11-44 needs iteration 44");
}

TEST(RunSummary, StaysCompleteWhenTheFailureCameAfterTheData) {
  const RunSummary summary =
      LogBuilder().run(0, 49).failure("cancelled", "CANCELLED AT 2025-06-25").summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason, HasSubstr("came when the data was complete"));
  EXPECT_THAT(summary.status_reason, HasSubstr("CANCELLED AT 2025-06-25"));
}

TEST(RunSummary, IsNotFailedByAFailureBeforeARestartThatCompleted) {
  const RunSummary summary =
      LogBuilder().run(0, 15).failure("cuda_oom", "out of memory").run(0, 49).summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.segment, 1);
  EXPECT_EQ(summary.segment_count, 2);
  EXPECT_EQ(summary.step_time_s->count, 34);
  EXPECT_THAT(summary.status_reason, HasSubstr("1 restart, and segment 1 counts"));
  EXPECT_THAT(summary.status_reason, HasSubstr("went on after a failure (cuda_oom"));
}

TEST(RunSummary, TakesTheLastSegmentThatHoldsTheWholeWindow) {
  // The first pass holds the window, the second one goes on from a checkpoint.
  const auto log =
      LogBuilder().run(0, 46).failure("node_failure", "DUE TO NODE FAILURE").run(40, 49);
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.segment, 0);
  EXPECT_EQ(summary.last_iteration, 46);
  EXPECT_EQ(summary.status, RunStatus::failed);
  EXPECT_THAT(summary.status_reason, HasSubstr("a later one reached iteration 49"));
}

TEST(RunSummary, TakesTheLastSegmentWhereNoneHoldsTheWindow) {
  const RunSummary summary = LogBuilder().run(0, 20).run(0, 12).summarize();
  EXPECT_EQ(summary.segment, 1);
  EXPECT_EQ(summary.last_iteration, 12);
  EXPECT_EQ(summary.step_time_s->count, 2);
}

TEST(RunSummary, IsInvalidWithNaNInTheSegmentThatCounts) {
  LogBuilder log = LogBuilder().run(0, 49);
  log.facts.segments[0].nan_step_count = 7;
  log.facts.segments[0].first_nan_iteration = 43;
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::invalid);
  EXPECT_THAT(summary.status_reason, HasSubstr("from iteration 43 on, in 7 of 50 steps"));
}

// Finite losses behind them say that the optimizer skipped those steps.
TEST(RunSummary, IsInvalidWhereMostStepsOfTheWindowWereSkipped) {
  const auto with_nan_norms = [](std::int64_t first, std::int64_t last) {
    LogBuilder log = LogBuilder().run(0, 49);
    for (StepSample& sample : log.samples) {
      const bool is_skipped = first <= sample.iteration && sample.iteration <= last;
      sample.grad_norm = is_skipped ? std::nan("") : 1.5;
    }
    return log;
  };
  const RunSummary summary = with_nan_norms(21, 45).summarize({35, 44});
  EXPECT_EQ(summary.status, RunStatus::invalid);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("NaN or infinite in 10 of the 10 steps of window 35-44 that print one"));
  EXPECT_EQ(with_nan_norms(35, 40).summarize({35, 44}).status, RunStatus::invalid);

  const RunSummary half = with_nan_norms(35, 39).summarize({35, 44});
  EXPECT_EQ(half.status, RunStatus::complete);
  EXPECT_THAT(half.status_reason, HasSubstr("in 5 of the 10 steps of it"));
  EXPECT_EQ(with_nan_norms(0, 34).summarize({35, 44}).status, RunStatus::complete);

  LogBuilder early = LogBuilder().run(0, 36);
  early.samples[35].grad_norm = early.samples[36].grad_norm = std::nan("");
  EXPECT_EQ(early.summarize({35, 44}, true).status, RunStatus::running) << "finite ones may follow";
}

TEST(RunSummary, IgnoresNaNOfASegmentThatDoesNotCount) {
  LogBuilder log = LogBuilder().run(0, 15).run(0, 49);
  log.facts.segments[0].nan_step_count = 1;
  log.facts.segments[0].first_nan_iteration = 3;
  EXPECT_EQ(log.summarize().status, RunStatus::complete);
}

TEST(RunSummary, HasNoDataWithoutSteps) {
  LogBuilder log;
  EXPECT_EQ(log.summarize().status, RunStatus::no_data);
  EXPECT_EQ(log.summarize().status_reason, "no step in the log");
  EXPECT_EQ(log.summarize({11, 44}, true).status, RunStatus::running);

  log.failure("cuda_oom", "CUDA out of memory");
  EXPECT_EQ(log.summarize().status, RunStatus::failed);
  EXPECT_EQ(log.summarize().status_reason,
            "the log ends before the first step: cuda_oom, 'CUDA out of memory'; no line says that "
            "a process ended: a job that lives may go on");
}

// What a step daemon could not do in a run's teardown says nothing of the run.
TEST(RunSummary, AComplaintAfterTheLastStepIsNoCauseOfItsOwn) {
  LogBuilder log = LogBuilder().run(0, 49).failure("srun_launch_error", "slurmstepd: error: no");
  log.facts.declared_last_iteration.reset();
  EXPECT_EQ(log.summarize().status, RunStatus::complete);
  log.failure("task_exited", "task 3: Exited with exit code 1");
  EXPECT_EQ(log.summarize().failure_cause, "srun_launch_error");
}

// One look at a file does not tell whether its job lives: only a line about an ended process does.
TEST(RunSummary, SaysWhereNobodyTellsOfAnEnd) {
  LogBuilder log = LogBuilder().run(0, 30).failure("cuda_oom", "no memory");
  EXPECT_EQ(log.summarize().status, RunStatus::failed);
  EXPECT_THAT(log.summarize().status_reason, testing::EndsWith("a job that lives may go on"));
  log.failure("task_exited", "exit code 1");
  EXPECT_THAT(log.summarize().status_reason, testing::EndsWith("'no memory'"));
  LogBuilder start;
  start.failure("cuda_oom", "no memory").failure("task_exited", "exit code 1");
  EXPECT_EQ(start.summarize().status_reason,
            "the run died before its first step: cuda_oom, 'no memory'");
}

TEST(RunSummary, SuspectsWhatMayStillGoOn) {
  LogBuilder starting;
  starting.failure("cuda_oom", "CUDA out of memory");
  const RunSummary suspected = starting.summarize({11, 44}, true);
  EXPECT_EQ(suspected.status, RunStatus::running);
  EXPECT_EQ(suspected.failure_cause, "");
  EXPECT_EQ(suspected.status_reason,
            "no step in the log yet; a line that may tell of a failure: cuda_oom, 'CUDA out of "
            "memory'");
  starting.failure("task_exited", "srun: error: n1: task 0: Exited with exit code 1");
  const RunSummary ended = starting.summarize({11, 44}, true);
  EXPECT_EQ(ended.status, RunStatus::failed);
  EXPECT_EQ(ended.failure_cause, "cuda_oom");
}

TEST(RunSummary, SuspectsAFailureAfterStepsUntilTheLogIsSilentOrItsEndIsAnnounced) {
  auto log = LogBuilder().run(0, 30).failure("cuda_oom", "CUDA out of memory");
  const RunSummary suspected = log.summarize({11, 44}, true);
  EXPECT_EQ(suspected.status, RunStatus::running);
  EXPECT_THAT(suspected.status_reason, HasSubstr("a line that may tell of a failure: cuda_oom"));
  const auto silent = summarize_run(log.samples, log.facts, {11, 44}, true,
                                    Silence{.silent_s = 1000, .step_time_s = 2});
  EXPECT_EQ(silent.status, RunStatus::failed);
  EXPECT_EQ(silent.failure_cause, "cuda_oom");
  log.failure("task_killed", "srun: error: n1: task 0: Killed");
  EXPECT_EQ(log.summarize({11, 44}, true).status, RunStatus::failed);
}

TEST(RunSummary, TellsOfNoWarningThatTrainingWentOnAfter) {
  const auto warned =
      LogBuilder().failure("rendezvous_failure", "[W815 09:12:44 socket.cpp:764] x").run(0, 49);
  EXPECT_EQ(warned.summarize().status_reason.find("training went on"), std::string::npos);
  const auto failed = LogBuilder().failure("cuda_oom", "CUDA out of memory").run(0, 49);
  EXPECT_THAT(failed.summarize().status_reason, HasSubstr("training went on after a failure"));
}

TEST(RunSummary, AWarningAfterWhichNobodyTellsOfAnEndIsNoCause) {
  const std::string warning = "[W socket.cpp:697] The client socket has failed to connect";
  LogBuilder log;
  log.failure("rendezvous_failure", warning);
  EXPECT_EQ(log.summarize().status, RunStatus::no_data);
  EXPECT_EQ(log.summarize().failure_cause, "");
  log.failure("task_exited", "srun: error: n1: task 1: Exited with exit code 1");
  EXPECT_EQ(log.summarize().failure_cause, "rendezvous_failure");
  LogBuilder trained;
  trained.run(0, 20).failure("rendezvous_failure", warning);
  EXPECT_EQ(trained.summarize().status, RunStatus::incomplete);
  EXPECT_EQ(trained.summarize().failure_cause, "");
}

TEST(RunSummary, HasNoDataWhereStepsCarryNoTime) {
  LogBuilder log = LogBuilder().run(0, 49);
  for (StepSample& sample : log.samples) sample.step_time_s.reset();
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::no_data);
  EXPECT_EQ(summary.status_reason, "50 steps up to iteration 49 of 49, but none with a step time");
  EXPECT_FALSE(summary.step_time_s);
}

TEST(RunSummary, IsIncompleteWhereAllStepsLieBeforeTheWindow) {
  const RunSummary summary =
      LogBuilder(Dialect::megatron_bridge, 20).run(1, 20).summarize({35, 44});
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_EQ(summary.status_reason, "20 of 20 steps were run, the window 35-44 needs iteration 44");
  EXPECT_FALSE(summary.step_time_s);
  EXPECT_THAT(LogBuilder(Dialect::nemo, 19).run(0, 19).summarize().status_reason,
              HasSubstr("20 of 20 steps were run"));
}

TEST(RunSummary, ClaimsNoStepsThatTheLogDoesNotShow) {
  const RunSummary summary =
      LogBuilder(Dialect::megatron_bridge, 50).run(48, 50).summarize({35, 44});
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_EQ(summary.status_reason,
            "iteration 50 of 50 was reached, no iteration of the window 35-44 has a step time (the "
            "log's are 48-50)");
}

TEST(RunSummary, NamesALoggingIntervalThatLeavesHolesInTheWindow) {
  const RunSummary summary = LogBuilder(Dialect::maxtext, 50).run(10, 50, 10).summarize({35, 44});
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_THAT(summary.status_reason, HasSubstr("logged every 10 iterations, so only 1 of the 10"));
}

// Megatron-LM's line is the mean of its interval, and so stands for it.
TEST(RunSummary, TakesALineOfAnIntervalForAllOfIt) {
  const RunSummary summary =
      LogBuilder(Dialect::megatron_lm, 50).run(10, 50, 10).summarize({21, 44});
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.step_time_s->count, 2);  // those that end at 30 and 40
  EXPECT_EQ(summary.iterations_missing_in_window, 0);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("a line is the mean of 10 iterations, and the window holds 2 lines"));
  // Iteration 1 is printed whatever the interval.
  LogBuilder with_first = LogBuilder(Dialect::megatron_lm, 50).run(10, 50, 10);
  StepSample first = with_first.samples.front();
  first.iteration = 1;
  with_first.samples.insert(with_first.samples.begin(), first);
  with_first.facts.segments[0].first_iteration = 1;
  ++with_first.facts.segments[0].step_count;
  EXPECT_EQ(with_first.summarize({21, 44}).status, RunStatus::complete);
  // What was not reached is not stood for.
  EXPECT_EQ(LogBuilder(Dialect::megatron_lm, 50).run(10, 40, 10).summarize({35, 44}).status,
            RunStatus::incomplete);
  with_first.samples[3].step_time_s.reset();
  EXPECT_EQ(with_first.summarize({21, 44}).status, RunStatus::incomplete);
}

TEST(RunSummary, StepsWhoseTimeIsHiddenAreNoHoles) {
  LogBuilder log = LogBuilder(Dialect::maxtext, 49).run(0, 49);
  log.samples[20].step_time_s.reset();
  EXPECT_EQ(log.summarize().status, RunStatus::incomplete);
  log.samples[20].extra_fields.emplace_back(kTimeIsHidden, 1);
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.step_time_s->count, 33);
  EXPECT_THAT(summary.status_reason, HasSubstr("of 1 step in it the program prints no time"));
}

TEST(RunSummary, RatesWithoutTimesAreStillNumbers) {
  LogBuilder log = LogBuilder(Dialect::torchtitan, 50).run(1, 50);
  for (StepSample& sample : log.samples) {
    sample.step_time_s.reset();
    sample.extra_fields.emplace_back("tps", 6785);
  }
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_FALSE(summary.step_time_s);
  EXPECT_EQ(summary.tflops_per_gpu->count, 34);
  EXPECT_THAT(summary.status_reason, HasSubstr("rates and no step times"));
  LogBuilder unfinished = LogBuilder(Dialect::torchtitan, 50).run(1, 20);
  for (StepSample& sample : unfinished.samples) {
    sample.step_time_s.reset();
    sample.extra_fields.emplace_back("tps", 6785);
  }
  EXPECT_EQ(unfinished.summarize().status, RunStatus::incomplete);
  EXPECT_THAT(unfinished.summarize().status_reason, HasSubstr("ended at iteration 20 of 50"));
  for (StepSample& sample : log.samples) sample.extra_fields.clear();
  EXPECT_EQ(log.summarize().status, RunStatus::no_data);
}

TEST(RunSummary, NamesTheFirstHoleOfAWindow) {
  LogBuilder log = LogBuilder().run(0, 49);
  log.samples[17].step_time_s.reset();
  log.samples[30].step_time_s = std::numeric_limits<double>::quiet_NaN();
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_EQ(summary.iterations_missing_in_window, 2);
  EXPECT_EQ(summary.step_time_s->count, 32);
  EXPECT_THAT(summary.status_reason,
              HasSubstr("2 of the 34 iterations in the window 11-44 have no step time, the first "
                        "is 17"));
  EXPECT_THAT(summary.status_reason, Not(HasSubstr("logged every")));
}

TEST(RunSummary, NeedsOnlyTheSamplesOfTheWindow) {
  LogBuilder log = LogBuilder().run(0, 15).run(0, 49).failure("cancelled", "CANCELLED");
  const RunSummary whole = log.summarize();
  std::erase_if(log.samples,
                [](const StepSample& s) { return s.iteration < 11 || s.iteration > 44; });
  EXPECT_EQ(log.summarize(), whole);
}

TEST(RunSummary, LeavesOutRatesThatAreNotKnown) {
  LogBuilder log = LogBuilder().run(0, 49);
  for (StepSample& sample : log.samples) sample.tflops_per_gpu = -1;
  log.samples[20].tflops_per_gpu = 400;
  log.samples[21].tflops_per_gpu = std::numeric_limits<double>::infinity();
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_EQ(summary.tflops_per_gpu->count, 1);
  EXPECT_EQ(summary.step_time_s->count, 34);
}

TEST(RunSummary, WithoutADeclaredEndBelievesTheFinishMarkerOrTheSilence) {
  LogBuilder log = LogBuilder().run(0, 49);
  log.facts.declared_last_iteration.reset();
  EXPECT_EQ(log.summarize().status, RunStatus::complete);
  EXPECT_EQ(log.summarize({11, 44}, true).status, RunStatus::running);
  LogBuilder finished = log;
  finished.finish();
  EXPECT_EQ(finished.summarize({11, 44}, true).status, RunStatus::complete);
  log.failure("cuda_oom", "out of memory");
  EXPECT_EQ(log.summarize().status, RunStatus::failed);
}

TEST(RunSummary, CountsSegmentsThatTheFactsNoLongerKeep) {
  LogBuilder log;
  for (int i = 0; i < 5; ++i) log.run(0, 12).failure("cuda_oom", "out of memory");
  log.run(0, 49).failure("cancelled", "CANCELLED");
  log.facts.segments.erase(log.facts.segments.begin() + 1, log.facts.segments.begin() + 4);
  const RunSummary summary = log.summarize();
  EXPECT_EQ(summary.segment, 5);
  EXPECT_EQ(summary.segment_count, 6);
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason, HasSubstr("and segment 5 counts"));
  EXPECT_THAT(summary.status_reason, HasSubstr("the failure after it (cancelled"));
}

TEST(RunSummary, NamesEveryStatus) {
  for (const char* name : {"running", "complete", "incomplete", "failed", "invalid", "no_data"}) {
    ASSERT_TRUE(run_status_from_name(name)) << name;
    EXPECT_EQ(run_status_name(*run_status_from_name(name)), name);
  }
  EXPECT_FALSE(run_status_from_name("finished"));
}

}  // namespace
}  // namespace llmb::parser
