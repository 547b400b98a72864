#include "storage/job_state.h"

#include "parser/foundation/name_table.h"

namespace llmb::storage {
namespace {

constexpr auto kJobStateNames = parser::name_table<JobState>({
    {JobState::submitting, "submitting"},
    {JobState::not_submitted, "not_submitted"},
    {JobState::pending, "pending"},
    {JobState::running, "running"},
    {JobState::suspended, "suspended"},
    {JobState::completing, "completing"},
    {JobState::completed, "completed"},
    {JobState::failed, "failed"},
    {JobState::cancelled, "cancelled"},
    {JobState::timed_out, "timed_out"},
    {JobState::node_failed, "node_failed"},
    {JobState::out_of_memory, "out_of_memory"},
    {JobState::preempted, "preempted"},
    {JobState::deadline_passed, "deadline_passed"},
    {JobState::boot_failed, "boot_failed"},
    {JobState::ended, "ended"},
    {JobState::unknown, "unknown"},
});

}  // namespace

std::string_view job_state_name(JobState state) {
  return kJobStateNames.name(state);
}

JobState job_state_from_name(std::string_view name) {
  return kJobStateNames.value(name).value_or(JobState::unknown);
}

bool is_final(JobState state) {
  switch (state) {
    case JobState::submitting:
    case JobState::pending:
    case JobState::running:
    case JobState::suspended:
    case JobState::completing:
    case JobState::unknown:
      return false;
    case JobState::not_submitted:
    case JobState::completed:
    case JobState::failed:
    case JobState::cancelled:
    case JobState::timed_out:
    case JobState::node_failed:
    case JobState::out_of_memory:
    case JobState::preempted:
    case JobState::deadline_passed:
    case JobState::boot_failed:
    case JobState::ended:
      return true;
  }
  return false;
}

std::vector<JobState> final_job_states() {
  std::vector<JobState> states;
  for (const auto& [state, name] : kJobStateNames) {
    if (is_final(state)) states.push_back(state);
  }
  return states;
}

}  // namespace llmb::storage
