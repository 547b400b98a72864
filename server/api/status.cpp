// GET /api/v1/status: how ingest is doing, from its own counters; reads no database.
// GET /api/v1/events: the changes of runs, as server-sent events.
#include <chrono>
#include <cstdint>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kRecentMsMax = 60'000;

Json retention_json(const ingest::RetentionStatus& status) {
  return {{"is_removing", status.is_removing},
          {"passed_at", nullable(status.passed_at)},
          {"runs_removed", status.removed.runs},
          {"steps_removed", status.removed.steps},
          {"log_text_bytes_removed", status.removed.log_text_bytes},
          {"error", null_if_empty(status.error)}};
}

}  // namespace

http::Response get_status(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const ingest::IngestStatus status = context.options.ingest_status();
  Json json;
  json["first_scan_done"] = status.first_scan_done;
  json["files_seen"] = status.files_seen;
  json["files_pending"] = status.files_pending;
  json["files_parked"] = status.files_parked;
  json["files_of_earlier_reading"] = status.files_of_earlier_reading;
  json["bytes_read"] = status.bytes_read;
  json["bytes_pending"] = status.bytes_pending;
  json["samples_committed"] = status.samples_committed;
  json["halted_reason"] = null_if_empty(status.halted_reason);
  json["root_errors"] = status.root_errors;
  json["roots_standing_by"] = status.roots_standing_by;
  json["jobs_are_on"] = context.options.dispatcher != nullptr && context.options.jobs != nullptr;
  const auto& retention = context.options.retention_status;
  json["retention"] = retention ? retention_json(retention()) : Json(nullptr);
  json["reads_only"] = context.options.reads_only;
  json["version"] = context.options.version;
  return hashed_response(to_text(json));
}

http::Response get_events(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"recent_ms"});
  http::Response response;
  response.events = context.options.events;
  response.recent_events =
      std::chrono::milliseconds(parameters.integer("recent_ms", 0, kRecentMsMax).value_or(0));
  return response;
}

}  // namespace llmb::api
