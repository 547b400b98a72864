// Waits for jobs to end, showing how far they are, and then what their logs say.
#pragma once

#include <vector>

#include "server/cli/job_desk.h"

namespace llmb::cli {

// The exit code: 0 when every job completed and its log has all steps that it says it would do, 1
// when not, 128 and the signal's number where one came; the jobs go on then.
int wait_for_jobs(JobDesk& desk, const std::vector<storage::JobRowId>& jobs);

}  // namespace llmb::cli
