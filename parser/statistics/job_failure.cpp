#include "parser/statistics/job_failure.h"

#include <string_view>

namespace llmb::parser {
namespace {

constexpr std::string_view kSchedulerSays = "; the scheduler says of its job: ";

}  // namespace

bool has_ended_early(RunStatus status) {
  return status == RunStatus::incomplete || status == RunStatus::no_data;
}

bool lacks_a_cause(const RunSummary& summary) {
  const bool was_last_reached = summary.declared_last_iteration && summary.last_iteration &&
                                *summary.last_iteration >= *summary.declared_last_iteration;
  const bool is_unexplained = summary.failure_cause.empty() || summary.failure_cause == "hung";
  return has_ended_early(summary.status) && is_unexplained && !was_last_reached;
}

void blame(const JobFailure& failure, RunSummary& summary) {
  if (!lacks_a_cause(summary)) return;
  summary.status = RunStatus::failed;
  summary.status_reason += std::string(kSchedulerSays) + failure.word;
  summary.failure_cause = failure.cause;
  summary.silent_s.reset();
}

bool is_blamed(const RunSummary& summary) {
  return summary.status == RunStatus::failed &&
         summary.status_reason.find(kSchedulerSays) != std::string::npos;
}

}  // namespace llmb::parser
