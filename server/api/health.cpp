// GET /healthz: the process answers. GET /readyz: its answers can be relied on; where not, every
// cause is named, so that nobody has to read a log to know what to do.
#include <string>
#include <vector>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"

namespace llmb::api {
namespace {

struct Cause {
  std::string name;  // short, snake_case, for alerts
  std::string detail;
};

std::vector<Cause> causes_not_ready(Context& context) {
  std::vector<Cause> causes;
  const ingest::IngestStatus status = context.options.ingest_status();
  if (!status.first_scan_done) {
    causes.push_back(
        {"first_scan_not_done", "The first scan of the watched trees is still going on; " +
                                    std::to_string(status.files_seen) + " files seen so far."});
  }
  if (!status.halted_reason.empty()) causes.push_back({"ingest_halted", status.halted_reason});
  for (const std::string& error : status.root_errors) causes.push_back({"root_error", error});
  try {
    context.readers.with_reader([](storage::Reader& reader) { return reader.data_revision(); });
  } catch (const storage::StorageError& error) {
    causes.push_back({"database_unreadable", error.what()});
  }
  return causes;
}

http::Response uncached(http::Response response) {
  response.cache_control = "no-store";
  return response;
}

}  // namespace

http::Response get_health(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  return uncached(
      http::json_response(to_text({{"status", "ok"}, {"version", context.options.version}})));
}

http::Response get_readiness(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const std::vector<Cause> causes = causes_not_ready(context);
  if (causes.empty()) {
    return uncached(http::json_response(to_text({{"status", "ready"}, {"causes", Json::array()}})));
  }
  Json json = {{"type", "about:blank"}, {"title", "Not ready"}, {"status", 503}};
  std::string detail;
  json["detail"] = nullptr;
  json["causes"] = Json::array();
  for (const Cause& cause : causes) {
    json["causes"].push_back({{"cause", cause.name}, {"detail", cause.detail}});
    detail += (detail.empty() ? "" : " ") + cause.name + ": " + cause.detail;
  }
  json["detail"] = detail;
  http::Response response = http::json_response(to_text(json), 503);
  response.content_type = "application/problem+json";
  return uncached(std::move(response));
}

}  // namespace llmb::api
