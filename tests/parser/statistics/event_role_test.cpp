#include "parser/statistics/event_role.h"

#include <gmock/gmock.h>

namespace llmb::parser {
namespace {

LogEvent failure(const std::string& cause, std::int64_t steps_before, std::int64_t rank = 0) {
  LogEvent event;
  event.cause = cause;
  event.line = cause;
  event.steps_before = steps_before;
  event.rank = rank;
  return event;
}

LogFacts log_of(const std::vector<std::int64_t>& steps_of_passes) {
  LogFacts facts;
  for (const std::int64_t steps : steps_of_passes) {
    SegmentFacts segment;
    segment.segment = static_cast<std::int32_t>(facts.segments.size());
    segment.step_count = steps;
    facts.segments.push_back(segment);
  }
  return facts;
}

std::vector<std::string> told(const LogFacts& facts, std::optional<double> step_time_s = {}) {
  std::vector<std::string> texts;
  for (const EventPart& part : event_parts(facts, step_time_s)) {
    texts.push_back(std::string(event_role_name(part.role)) + " " + std::to_string(part.attempt));
  }
  return texts;
}

using testing::ElementsAre;

TEST(EventRoles, AreRootCascadeAndSymptomOverRanks) {
  LogFacts facts = log_of({20});
  facts.events = {failure("python_traceback", 20, 3), failure("cuda_oom", 20, 3),
                  failure("peer_lost", 20, 5),        failure("nccl_timeout", 20, 6),
                  failure("child_failed", 20),        failure("task_exited", 20)};
  EXPECT_THAT(told(facts), ElementsAre("symptom 0", "root 0", "cascade 0", "cascade 0", "symptom 0",
                                       "symptom 0"));
}

// SIGTERM is how others are ended: who said why is the root, or nobody.
TEST(EventRoles, OfWhatSigtermEndedAreSymptoms) {
  LogFacts facts = log_of({20});
  LogEvent exception = failure("task_killed", 20);
  exception.line = "SignalException: Process 771 got signal: 15";
  LogEvent terminated = failure("task_killed", 20);
  terminated.line = "srun: error: n1: task 0: Terminated";
  facts.events = {failure("python_traceback", 20), exception, failure("cancelled", 20), terminated};
  EXPECT_THAT(told(facts), ElementsAre("symptom 0", "symptom 0", "root 0", "symptom 0"));
  facts.events = {terminated, failure("task_exited", 20), failure("cancelled", 20)};
  EXPECT_THAT(told(facts), ElementsAre("symptom 0", "root 0", "cascade 0"));
}

TEST(EventRoles, AKilledRankIsTheRootOfWhatItsPeersLost) {
  LogFacts facts = log_of({20});
  LogEvent killed = failure("task_killed", 20);
  killed.line = "mpirun noticed that process rank 3 exited on signal 9 (Killed).";
  facts.events = {failure("peer_lost", 20, 5), killed};
  EXPECT_THAT(told(facts), ElementsAre("cascade 0", "root 0"));
  facts.events = {failure("nccl_timeout", 20, 5), killed};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0"));
}

// A shell goes on after what it could not do: the root where nothing else is one.
TEST(EventRoles, OfAShellsComplaintIsRootOnlyWhereNothingElseIs) {
  LogFacts facts = log_of({20});
  LogEvent complaint = failure("missing_module", 20);
  complaint.line = "run.sh: line 4: tool: command not found";
  facts.events = {complaint, failure("task_exited", 20)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0"));
  facts.events = {complaint, failure("python_exception", 20, 3), failure("task_exited", 20)};
  EXPECT_THAT(told(facts), ElementsAre("survived 0", "root 0", "symptom 0"));
}

TEST(EventRoles, OfAFaultAfterAKernelsTimeoutIsACascade) {
  LogFacts facts = log_of({20});
  LogEvent timeout = failure("nccl_timeout", 20, 3);
  timeout.line = "DeepEP dispatch NVL receiver timeout, channel: 3";
  facts.events = {timeout, failure("illegal_memory_access", 20, 3)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "cascade 0"));
}

TEST(EventRoles, OfAnExceptionThatALoggerNotesIsRootBeforeTheExit) {
  LogFacts facts = log_of({20});
  LogEvent exception = failure("python_exception", 20);
  exception.line = "[INFO] train: KeyError: 'loss'";
  facts.events = {exception, failure("child_failed", 20)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0"));
  facts.events[0].line += ", retrying";
  EXPECT_THAT(told(facts), ElementsAre("survived 0", "root 0"));
}

TEST(EventRoles, AreToldForEachAttempt) {
  LogFacts facts = log_of({20, 10});
  facts.events = {failure("nccl_timeout", 20, 6), failure("task_exited", 20),
                  failure("gpu_hardware_error", 30), failure("peer_lost", 30, 1)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0", "root 1", "cascade 1"));
}

TEST(EventRoles, OfWhatTrainingWentOnAfterIsSurvived) {
  LogFacts facts = log_of({20});
  facts.events = {failure("rendezvous_failure", 0), failure("nccl_error", 7),
                  failure("time_limit", 18), failure("task_killed", 20)};
  facts.events.push_back({LogEvent::Kind::finish_marker, "training_done", "", 0, 20});
  EXPECT_THAT(told(facts),
              ElementsAre("survived 0", "survived 0", "root 0", "symptom 0", "none 0"));
}

// How near the end is, is told as a run's summary tells it.
TEST(EventRoles, OfAnEndAreToldAsTheRunsCauseIs) {
  LogFacts facts = log_of({200});
  facts.events = {failure("cancelled", 160), failure("task_exited", 200)};
  EXPECT_THAT(told(facts, 1.5), ElementsAre("root 0", "symptom 0"));  // 40 steps in a minute
  EXPECT_THAT(told(facts, 2.0), ElementsAre("survived 0", "root 0"));
  EXPECT_THAT(told(facts), ElementsAre("survived 0", "root 0"));
  facts.events[0] = failure("cancelled", 195);
  EXPECT_THAT(told(facts, 30.0), ElementsAre("survived 0", "root 0"));
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0"));
  // Nobody ended what reached its last iteration, nor what had not begun.
  facts.events.pop_back();
  facts.segments[0].last_iteration = 199;
  facts.declared_last_iteration = 199;
  EXPECT_THAT(told(facts), ElementsAre("survived 0"));
  facts = log_of({5});
  facts.events = {failure("cancelled", 0)};
  EXPECT_THAT(told(facts), ElementsAre("survived 0"));
}

TEST(EventRoles, OfALastWordIsRootWhereTheEndHasNoReason) {
  LogFacts facts = log_of({20});
  facts.events = {failure("gpu_hardware_error", 17, 5), failure("child_failed", 20),
                  failure("task_exited", 20)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0", "symptom 0"));
  facts.events[1] = failure("nccl_timeout", 20);
  EXPECT_THAT(told(facts), ElementsAre("root 0", "cascade 0", "symptom 0"))
      << "others wait for the rank";
  facts.events[0] = failure("cuda_oom", 17, 5);
  EXPECT_THAT(told(facts), ElementsAre("survived 0", "root 0", "symptom 0"))
      << "what may be caught";
  facts = log_of({60});
  facts.events = {failure("gpu_hardware_error", 17, 5), failure("child_failed", 60)};
  EXPECT_THAT(told(facts), ElementsAre("survived 0", "root 0"));
}

TEST(EventRoles, OfALogWithoutStepsHaveOneRoot) {
  LogFacts facts;
  facts.events = {failure("missing_module", 0), failure("task_exited", 0)};
  EXPECT_THAT(told(facts), ElementsAre("root 0", "symptom 0"));
  EXPECT_TRUE(event_parts({}, {}).empty());
}

}  // namespace
}  // namespace llmb::parser
