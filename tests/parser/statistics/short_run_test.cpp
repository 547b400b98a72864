// Runs that were to do fewer steps than a window holds: under a trace or a profiler, or one step
// after a checkpoint was loaded.
#include <gmock/gmock.h>

#include "parser/statistics/run_summary.h"
#include "tests/parser/statistics/log_builder.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;

// grok1, NCCL trace: five steps, and a window that begins at the twelfth.
TEST(RunSummary, TellsARunThatDidAllItsStepsFromOneThatStopped) {
  LogBuilder traced(Dialect::nemo, 4);
  traced.run(0, 4);
  RunSummary summary = summarize_run(traced.samples, traced.facts, {11, 44}, false);
  EXPECT_EQ(summary.status, RunStatus::incomplete);
  EXPECT_TRUE(has_run_all_steps(summary));
  summary.failure_cause = "hung";
  EXPECT_FALSE(has_run_all_steps(summary));
  LogBuilder stopped(Dialect::nemo, 5);
  stopped.run(0, 4);
  EXPECT_FALSE(has_run_all_steps(summarize_run(stopped.samples, stopped.facts, {11, 44}, false)));
  LogBuilder complete(Dialect::nemo, 49);
  complete.run(0, 49);
  EXPECT_FALSE(has_run_all_steps(summarize_run(complete.samples, complete.facts, {11, 44}, false)));
}

// nemotron4, Load Checkpoint: "Training will run for 1 step after checkpoint has been loaded."
TEST(RunSummary, OneStepAfterALoadIsAFunctionCheck) {
  LogBuilder log(Dialect::nemo, 50);
  log.run(50, 50);
  CheckpointEvent load;
  load.kind = CheckpointEvent::Kind::load;
  EXPECT_FALSE(summarize_run(log.samples, log.facts, {50, 50}, false).is_function_check);
  log.facts.checkpoints = {load};
  const RunSummary summary = summarize_run(log.samples, log.facts, {50, 50}, false);
  EXPECT_TRUE(summary.is_function_check);
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_THAT(summary.status_reason, HasSubstr("a function check"));
  // Fifty steps after a load are a run like others.
  LogBuilder whole(Dialect::nemo, 99);
  whole.run(50, 99);
  whole.facts.checkpoints = {load};
  EXPECT_FALSE(summarize_run(whole.samples, whole.facts, {61, 94}, false).is_function_check);
}

}  // namespace
}  // namespace llmb::parser
