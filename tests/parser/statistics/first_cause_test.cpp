// Which failures of a log are no cause of its end, though they stand before all others.
#include "parser/statistics/first_cause.h"

#include <gtest/gtest.h>

#include "log_builder.h"

namespace llmb::parser {
namespace {

constexpr const char* kKilled = "srun: error: node-8: task 5: Killed";

TEST(FirstCause, IsNotWhatKeptAProgramFromItsStartWhereStepsCameBehindIt) {
  LogBuilder log;
  log.failure("srun_launch_error", "srun: error: task 0 launch failed: Unspecified error");
  log.run(0, 8).failure("task_killed", kKilled);
  EXPECT_EQ(log.summarize().failure_cause, "task_killed");
  // A rank's own lines may come late.
  LogBuilder late;
  late.failure("cuda_oom", "CUDA out of memory").run(0, 8).failure("task_killed", kKilled);
  EXPECT_EQ(late.summarize().failure_cause, "cuda_oom");
}

TEST(FirstCause, IsNotAnEndOfWhichTheSameLineTellsThatTheRunIsBack) {
  LogBuilder log;
  log.failure("preempted", "workload w requeued (evicted: Preempted), admitted again after 40 s");
  EXPECT_EQ(log.summarize().status, RunStatus::no_data);
  LogBuilder gone;
  gone.failure("preempted", "workload w evicted: Preempted");
  EXPECT_EQ(gone.summarize().status, RunStatus::failed);
  LogBuilder former;
  former.failure("preempted", "previous job 12 of this chain CANCELLED DUE TO PREEMPTION");
  EXPECT_EQ(former.summarize().status, RunStatus::no_data);
  LogBuilder not_yet;
  not_yet.failure("preempted", "pod w-0 was preempted and not admitted again within 600 s");
  EXPECT_EQ(not_yet.summarize().status, RunStatus::failed);
}

TEST(FirstCause, IsNotAHelpersExceptionBesideOneOfTheProgram) {
  LogBuilder log;
  log.run(0, 8);
  log.failure("rendezvous_failure", "Exception in thread T-6 (_report): gaierror: name resolution");
  log.failure("python_exception", "TypeError: f() missing 1 required positional argument");
  EXPECT_EQ(log.summarize().failure_cause, "python_exception");
  LogBuilder loader;
  loader.run(0, 8);
  loader.failure("cuda_oom",
                 "Exception in thread T-4 (load): OutOfMemoryError: CUDA out of memory");
  loader.failure("nccl_timeout", "Watchdog caught collective operation timeout");
  EXPECT_EQ(loader.summarize().failure_cause, "cuda_oom");
}

}  // namespace
}  // namespace llmb::parser
