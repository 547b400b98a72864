// Jobs as JSON.
#pragma once

#include <string>
#include <vector>

#include "server/api/json.h"
#include "server/dispatch/dispatcher.h"
#include "storage/job_records.h"

namespace llmb::api {

Json job_json(const storage::JobRecord& job);
// With what was submitted, and its runs: one for each start.
Json job_details_json(const storage::JobRecord& job, const std::vector<storage::RunId>& runs);
// What a plan notes, in the words of the request's keys.
Json plan_notes_json(const std::vector<std::string>& notes);
Json dry_run_json(const dispatch::DryRun& run);

}  // namespace llmb::api
