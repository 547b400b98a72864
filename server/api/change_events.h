// The events that browsers listen to: a run or a job has changed.
#pragma once

#include <vector>

#include "server/http/event_channel.h"
#include "storage/job_records.h"
#include "storage/run_change.h"

namespace llmb::api {

// What a writer did to a run, as the event "run".
void publish_change(http::EventChannel& channel, const storage::RunChange& change);

// A job's new state, as the event "job"; and for each of its runs the event "run".
void publish_job_change(http::EventChannel& channel, const storage::JobRecord& job,
                        const std::vector<storage::RunId>& runs);

}  // namespace llmb::api
