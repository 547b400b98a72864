#include "server/dispatch/job_observation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

using storage::JobRecord;

// How far the clocks of this machine and of slurmctld's may be apart.
constexpr std::int64_t kClockSkewS = 300;

std::string trouble_of(const ObservedJob& observed, std::optional<std::int64_t> partition_nodes) {
  if (observed.state == JobState::unknown) {
    return fmt::format("Slurm says '{}', which is not known here; still asking",
                       observed.slurm_state);
  }
  if (observed.state != JobState::pending) return {};
  std::string never = why_never_starts(observed.state_reason);
  if (!never.empty()) return never;
  if (observed.state_reason == "Resources" && partition_nodes && observed.node_count &&
      *observed.node_count > *partition_nodes) {
    return fmt::format(
        "can never start: it asks for {} nodes, and partition {} has {}; cancel it, and ask for "
        "fewer GPUs",
        *observed.node_count, observed.partition, *partition_nodes);
  }
  return {};
}

std::optional<std::string> instant_or_nothing(std::optional<std::int64_t> unix_s) {
  return unix_s ? std::optional(instant_text(instant_of_unix_s(*unix_s))) : std::nullopt;
}

}  // namespace

const ObservedJob* find_in_queue(const std::vector<ObservedJob>& queue, const JobRecord& job) {
  const auto user = static_cast<std::int64_t>(geteuid());
  const auto found = std::find_if(queue.begin(), queue.end(), [&](const ObservedJob& observed) {
    const bool has_mark = observed.comment == job.submission_id;
    if (!job.job_id) return has_mark && observed.user_id.value_or(user) == user;
    return observed.job_id == *job.job_id &&
           (has_mark || (job.submit_time_s && observed.submit_time_s == *job.submit_time_s));
  });
  return found == queue.end() ? nullptr : &*found;
}

const ObservedJob* find_in_accounting(const std::vector<ObservedJob>& records,
                                      const JobRecord& job) {
  if (!job.job_id) return nullptr;
  if (job.submit_time_s) return find_accounted(records, *job.job_id, *job.submit_time_s);
  // Never seen in the queue: the first of this id since the row was written.
  const auto created = parse_instant(job.created_at);
  if (!created) return nullptr;
  const std::int64_t since =
      std::chrono::floor<std::chrono::seconds>(*created).time_since_epoch().count() - kClockSkewS;
  const ObservedJob* first = nullptr;
  for (const ObservedJob& record : records) {
    if (record.job_id != *job.job_id || record.submit_time_s < since) continue;
    if (first == nullptr || record.submit_time_s < first->submit_time_s) first = &record;
  }
  return first == nullptr ? nullptr : find_accounted(records, *job.job_id, first->submit_time_s);
}

void apply_observation(JobRecord& job, const ObservedJob& observed,
                       std::optional<std::int64_t> partition_nodes) {
  job.job_id = observed.job_id;
  if (observed.submit_time_s > 0) job.submit_time_s = observed.submit_time_s;
  job.state = observed.state;
  job.state_reason = observed.state_reason == "None" ? "" : observed.state_reason;
  job.trouble = trouble_of(observed, partition_nodes);
  job.restart_count = std::max(job.restart_count, observed.restart_count);
  job.nodes = observed.nodes;
  const bool has_ended = is_final(observed.state);
  // A job that was cancelled before it had nodes gets the instant of its end as its start too.
  const bool has_started =
      observed.state != JobState::pending && (!has_ended || !observed.nodes.empty());
  job.started_at = has_started ? instant_or_nothing(observed.start_time_s) : std::nullopt;
  job.ended_at = has_ended ? instant_or_nothing(observed.end_time_s) : std::nullopt;
  // Accounting does not know when a limit comes: what the queue said stays.
  if (has_ended || !has_started) {
    job.limit_ends_at.reset();
  } else if (observed.end_time_s) {
    job.limit_ends_at = instant_or_nothing(observed.end_time_s);
  }
  job.exit_code = has_ended ? observed.exit_code : std::nullopt;
}

}  // namespace llmb::dispatch
