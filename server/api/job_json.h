// Jobs as JSON.
#pragma once

#include <vector>

#include "server/api/json.h"
#include "server/dispatch/dispatcher.h"
#include "storage/job_records.h"

namespace llmb::api {

Json job_json(const storage::JobRecord& job);
// With what was submitted, and its runs: one for each start.
Json job_details_json(const storage::JobRecord& job, const std::vector<storage::RunId>& runs);
Json dry_run_json(const dispatch::DryRun& run);

}  // namespace llmb::api
