#include "server/ingest/job_end.h"

#include <fmt/format.h>

#include <string_view>

namespace llmb::ingest {
namespace {

using storage::JobState;

// The class of failure; empty for a job that did not fail, or of which nobody knows it.
std::string_view cause_of(JobState state) {
  switch (state) {
    case JobState::failed:
      return "job_exited";
    case JobState::cancelled:
      return "cancelled";
    case JobState::timed_out:
    case JobState::deadline_passed:
      return "time_limit";
    case JobState::node_failed:
    case JobState::boot_failed:
      return "node_failure";
    case JobState::out_of_memory:
      return "host_oom_kill";
    case JobState::preempted:
      return "preempted";
    default:
      return {};
  }
}

}  // namespace

std::optional<JobEnd> job_end_of(storage::Reader& database, storage::RootId root,
                                 const std::string& relative_path, const parser::RunPath& path) {
  const auto job = database.last_state_of_job(root, relative_path, path);
  if (!job) return std::nullopt;
  // A start that was followed by another one is over, however that one goes.
  if (path.retry.value_or(0) < job->restart_count) return JobEnd{};
  if (!storage::is_final(job->state)) return std::nullopt;
  const std::string_view cause = cause_of(job->state);
  if (cause.empty()) return JobEnd{};
  const std::string_view state = storage::job_state_name(job->state);
  return JobEnd{parser::JobFailure{std::string(cause),
                                   job->exit_code && *job->exit_code != 0
                                       ? fmt::format("{}, exit code {}", state, *job->exit_code)
                                       : std::string(state)}};
}

bool is_news(const JobEnd& end, const parser::RunSummary& summary) {
  return summary.status == parser::RunStatus::running ||
         (end.failure && parser::lacks_a_cause(summary));
}

}  // namespace llmb::ingest
