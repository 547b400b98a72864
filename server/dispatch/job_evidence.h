// What a job's own files tell of it where Slurm does not: the batch script's output ends with its
// exit code, or with what slurmstepd said when it ended the job; and files are named by job id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/result.h"
#include "server/dispatch/job_files.h"
#include "server/dispatch/job_state.h"
#include "storage/job_records.h"

namespace llmb::dispatch {

struct JobLogs {
  std::string log;           // of the newest start; empty where there is none yet
  std::string batch_output;  // what the batch script printed; empty where there is none yet
  std::string error;         // why a folder could not be looked into; else empty
};
// read_piece() reads them.
JobLogs job_logs(const storage::JobRecord& job);

// The id in the names of a run folder's files; nothing where no job has started in it. Fails where
// the folder cannot be looked into just now, which says nothing of the job.
parser::Result<std::optional<std::int64_t>> job_id_of_folder(const std::string& run_folder);

struct JobEvidence {
  JobState state = JobState::ended;
  std::optional<std::int64_t> exit_code = {};
  // Unix seconds, where the script told them.
  std::optional<std::int64_t> started_at_s = {};
  std::optional<std::int64_t> ended_at_s = {};
};
// The last word counts: a requeue appends. Nothing where there is none, or it tells of a requeue.
std::optional<JobEvidence> batch_output_evidence(std::string_view output, std::int64_t job_id);

// The same of a job's file; reads its last 64 KiB. Fails as job_id_of_folder() does.
parser::Result<std::optional<JobEvidence>> job_evidence(const storage::JobRecord& job);

}  // namespace llmb::dispatch
