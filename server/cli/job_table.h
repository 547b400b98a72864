// How jobs are shown on a terminal.
#pragma once

#include <iosfwd>
#include <vector>

#include "server/dispatch/submission.h"
#include "storage/job_records.h"

namespace llmb::cli {

// One line a job, and a line for each that is in trouble.
void write_job_table(const std::vector<storage::JobRecord>& jobs, std::ostream& out);

// "41", or "-" where Slurm has given no id.
std::string slurm_id(const storage::JobRecord& job);

// Of a stored job; empty where it cannot be read.
dispatch::Submission submission_of(const storage::JobRecord& job);

}  // namespace llmb::cli
