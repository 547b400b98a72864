// A job's own files, which are named by its id: they tell of it where Slurm does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/result.h"
#include "server/dispatch/batch_output.h"
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

// What its batch script's output tells; reads the last 64 KiB. Fails as job_id_of_folder() does.
parser::Result<std::optional<JobEvidence>> job_evidence(const storage::JobRecord& job);

}  // namespace llmb::dispatch
