// What the output of a job's batch script tells of the job: it ends with the script's exit code, or
// with what slurmstepd said when it ended the job. Opens no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/dispatch/job_state.h"

namespace llmb::dispatch {

struct JobEvidence {
  JobState state = JobState::ended;
  std::optional<std::int64_t> exit_code = {};
  // Unix seconds, where the script told them.
  std::optional<std::int64_t> started_at_s = {};
  std::optional<std::int64_t> ended_at_s = {};
};
// The last word counts: a requeue appends. Nothing where there is none, or it tells of a requeue.
std::optional<JobEvidence> batch_output_evidence(std::string_view output, std::int64_t job_id);

}  // namespace llmb::dispatch
