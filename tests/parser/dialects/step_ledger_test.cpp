#include "parser/dialects/step_ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace llmb::parser {
namespace {

StepSample step(std::int64_t iteration, double step_time_s = 1) {
  StepSample sample;
  sample.iteration = iteration;
  sample.step_time_s = step_time_s;
  return sample;
}

LogEvent event(std::string cause, LogEvent::Kind kind = LogEvent::Kind::failure) {
  LogEvent result;
  result.kind = kind;
  result.cause = std::move(cause);
  return result;
}

TEST(StepLedger, AmendedSampleReplacesItsEarlierSelfUntilTaken) {
  StepLedger ledger;
  ledger.add(step(1));
  StepSample fuller = *ledger.newest();
  fuller.loss = 2.5;
  ledger.amend_newest(fuller);
  auto samples = ledger.take_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].loss, 2.5);
  ledger.amend_newest(fuller);  // nothing new
  EXPECT_TRUE(ledger.take_samples().empty());
  fuller.grad_norm = 1;
  ledger.amend_newest(fuller);
  EXPECT_EQ(ledger.take_samples().size(), 1U);
  EXPECT_EQ(ledger.step_count(), 1);
}

TEST(StepLedger, CountsANanStepOnce) {
  StepLedger ledger;
  ledger.add(step(1));
  StepSample sample = *ledger.newest();
  sample.loss = NAN;
  ledger.amend_newest(sample);
  sample.grad_norm = NAN;
  ledger.amend_newest(sample);
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 1);
}

StepSample step_with(std::int64_t iteration, double loss, double grad_norm) {
  StepSample sample = step(iteration);
  sample.loss = loss;
  sample.grad_norm = grad_norm;
  return sample;
}

TEST(StepLedger, ForgivesNanGradientsThatTheOptimizerSkipped) {
  StepLedger ledger;
  ledger.add(step_with(1, 2, NAN));
  ledger.add(step_with(2, 2, NAN));
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 2);
  EXPECT_EQ(ledger.facts().segments[0].first_nan_iteration, 1);
  ledger.add(step_with(3, 1.9, 1.5));
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 0);
  EXPECT_FALSE(ledger.facts().segments[0].first_nan_iteration);
}

TEST(StepLedger, ForgivesNoNanLossAndNoGradientOfAnEarlierSegment) {
  StepLedger ledger;
  ledger.add(step_with(1, NAN, 1));
  ledger.add(step_with(2, 2, NAN));
  ledger.add(step_with(3, 2, 1));
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 1);
  EXPECT_EQ(ledger.facts().segments[0].first_nan_iteration, 1);
  ledger.add(step_with(4, 2, NAN));
  ledger.add(step_with(5, NAN, NAN));
  ledger.add(step_with(6, 2, 1));
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 3);
  ledger.add(step_with(7, 2, NAN));
  ledger.add(step_with(1, 2, 1));  // begins anew
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 4);
  EXPECT_EQ(ledger.facts().segments[1].nan_step_count, 0);
}

TEST(StepLedger, CountsAnInfiniteLossButNoInfiniteGradientNorm) {
  StepLedger ledger;
  StepSample sample = step(1);
  sample.grad_norm = INFINITY;
  ledger.add(sample);
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 0);
  sample.iteration = 2;
  sample.loss = INFINITY;
  ledger.add(sample);
  EXPECT_EQ(ledger.facts().segments[0].nan_step_count, 1);
}

TEST(StepLedger, TakesATimeOfZeroForNone) {
  StepLedger ledger;
  EXPECT_EQ(ledger.add(step(1, 0)).step_time_s, std::nullopt);
  EXPECT_EQ(ledger.add(step(2, 0.002)).step_time_s, 0.002);
  ledger.amend_newest(step(2, 0));
  EXPECT_EQ(ledger.newest()->step_time_s, std::nullopt);
}

TEST(StepLedger, KeepsTheStatementOfACauseRatherThanAWarningBeforeIt) {
  StepLedger ledger;
  LogEvent warning = event("missing_module");
  warning.line = "WARNING: libx.so: cannot open shared object file";
  LogEvent statement = event("missing_module");
  statement.line = "ImportError: libx.so: cannot open shared object file";
  for (const LogEvent& one : {warning, statement, statement, warning}) ledger.add_event(one);
  ASSERT_EQ(ledger.facts().events.size(), 1U);
  EXPECT_EQ(ledger.facts().events[0].line, statement.line);
}

TEST(StepLedger, KeepsTheStatementOfACauseRatherThanAShellsComplaintBeforeIt) {
  StepLedger ledger;
  LogEvent complaint = event("missing_module");
  complaint.line = "prolog.sh: line 3: nvidia-persistenced: command not found";
  LogEvent statement = event("missing_module");
  statement.line = "ModuleNotFoundError: No module named 'x'";
  for (const LogEvent& one : {complaint, statement, complaint}) ledger.add_event(one);
  ASSERT_EQ(ledger.facts().events.size(), 1U);
  EXPECT_EQ(ledger.facts().events[0].line, statement.line);
}

TEST(StepLedger, EndlessRestartsStayBounded) {
  StepLedger ledger;
  for (int i = 0; i < 2000; ++i) ledger.add(step(5, i));
  const auto& segments = ledger.facts().segments;
  EXPECT_EQ(segments.size(), kSegmentsMax);
  EXPECT_EQ(segments[kSegmentsMax - 2].segment, static_cast<std::int32_t>(kSegmentsMax) - 2);
  EXPECT_EQ(segments.back().segment, 1999);
  EXPECT_EQ(segments.back().step_count, 1);
  EXPECT_EQ(ledger.step_count(), 2000);
}

// Each has a number of its own, so that none takes another one's place.
TEST(StepLedger, StepsOfEndlessRestartsAreAllGiven) {
  StepLedger ledger;
  for (int i = 0; i < 2000; ++i) {
    ledger.add(step(1, i));
    ledger.add(step(2, i));
  }
  const std::vector<StepSample> samples = ledger.take_samples();
  ASSERT_EQ(samples.size(), 4000U);
  for (int i = 0; i < 4000; ++i) EXPECT_EQ(samples[static_cast<std::size_t>(i)].segment, i / 2);
}

TEST(StepLedger, KeepsOfACauseTheFirstAndTheFirstSinceTheNewestStep) {
  StepLedger ledger;
  for (int i = 0; i < 1000; ++i) {
    ledger.add(step(i));
    ledger.add_event(event("task_exited"));
    LogEvent again = event("task_exited");
    again.rank = 7;
    ledger.add_event(again);
  }
  const auto& events = ledger.facts().events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].steps_before, 1);
  EXPECT_EQ(events[1].steps_before, 1000);
  EXPECT_EQ(events[1].rank, std::nullopt);
}

TEST(StepLedger, ForgetsSurvivedEventsForThoseOfTheEnd) {
  StepLedger ledger;
  for (int i = 0; i < 40; ++i) {
    ledger.add(step(i));
    ledger.add_event(event("cause" + std::to_string(i)));
  }
  const auto& events = ledger.facts().events;
  EXPECT_EQ(events.size(), 24U);
  EXPECT_EQ(events.front().cause, "cause0");
  EXPECT_EQ(events.back().cause, "cause39");
}

TEST(StepLedger, KeepsAtMostTwentyFourEventsAmongThemTheFirstOfEachKind) {
  StepLedger ledger;
  ledger.add_event(event("first"));
  ledger.add_event(event("done", LogEvent::Kind::finish_marker));
  for (int i = 0; i < 40; ++i) ledger.add_event(event("cause" + std::to_string(i)));
  ledger.add_event(event("first"));
  ledger.add_event(event("done", LogEvent::Kind::finish_marker));
  const auto& events = ledger.facts().events;
  EXPECT_EQ(events.size(), 24U);
  EXPECT_EQ(events[0].cause, "first");
  EXPECT_EQ(events[1].cause, "done");
}

TEST(StepLedger, DeclaredEndIsTakenBackWhenAStepGoesBeyond) {
  StepLedger ledger;
  ledger.add(step(9));
  ledger.declare_last_iteration(9);
  EXPECT_EQ(ledger.facts().declared_last_iteration, 9);
  ledger.add(step(10));
  EXPECT_EQ(ledger.facts().declared_last_iteration, std::nullopt);
  ledger.declare_last_iteration(9);
  EXPECT_EQ(ledger.facts().declared_last_iteration, std::nullopt);
}

TEST(StateText, KeepsEveryFieldExactly) {
  StepSample sample = step(-3, 0.1 + 0.2);
  sample.segment = 2;
  sample.iteration_is_logged = false;
  sample.epoch = 1;
  sample.loss = NAN;
  sample.grad_norm = -INFINITY;
  sample.consumed_samples = 9'007'199'254'740'993;
  sample.logged_at = "2025-06-12T00:02:13";
  sample.extra_fields = {{"train_backward_timing in s", 5e-324}, {"a%\n\"\xff", 1}, {"", 2}};
  sample.byte_offset = UINT64_MAX;
  StateWriter writer;
  writer.sample(sample);
  writer.text("");
  const std::string text = writer.take();
  EXPECT_EQ(text.find_first_not_of("!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~ "),
            std::string::npos);
  StateReader reader(text);
  const StepSample again = reader.sample();
  EXPECT_EQ(reader.text(), "");
  EXPECT_TRUE(reader.at_end());
  EXPECT_FALSE(reader.failed());
  ASSERT_TRUE(again.loss.has_value());
  EXPECT_TRUE(std::isnan(*again.loss));
  StepSample expected = sample;
  StepSample found = again;
  expected.loss.reset();
  found.loss.reset();
  EXPECT_EQ(found, expected);
}

TEST(StateText, ThatIsCutFails) {
  StateReader reader("12 x");
  EXPECT_EQ(reader.integer(), 12);
  EXPECT_EQ(reader.integer(), 0);
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.text(), "");
}

TEST(StepLedger, KeepsOfWhatIsToldTwiceTheCloserWords) {
  struct Told {
    const char *cause, *from_afar, *closer;
  };
  const Told kTold[] = {
      {"host_oom_kill", "RuntimeError: DataLoader worker (pid 4) is killed by signal: Killed.",
       "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0."},
      {"peer_lost",
       "DistBackendError: NCCL error in: x.hpp:317, remote process exited or there was",
       "socketProgress: Connection closed by remote peer n9<51812>"},
      {"container_error", "slurmstepd: error: pyxis: container start failed",
       "slurmstepd: error: pyxis:     nvidia-container-cli: mount error: file creation failed"}};
  for (const Told& told : kTold) {
    for (const bool is_closer_first : {false, true}) {
      StepLedger ledger;
      for (const bool is_first : {true, false}) {
        LogEvent one = event(told.cause);
        one.line = is_first == is_closer_first ? told.closer : told.from_afar;
        ledger.add_event(std::move(one));
      }
      ASSERT_EQ(ledger.facts().events.size(), 1U);
      EXPECT_EQ(ledger.facts().events[0].line, told.closer);
    }
  }
}

}  // namespace
}  // namespace llmb::parser
