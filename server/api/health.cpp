// GET /healthz: the process answers. GET /readyz: its answers can be relied on; where not, every
// cause is named, so that nobody has to read a log to know what to do.
#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "parser/foundation/instant.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"

namespace llmb::api {
namespace {

struct Cause {
  std::string name;  // short, snake_case, for alerts
  std::string detail;
};

// A root that does not answer leaves the other roots, and all that is stored, as good as before.
std::vector<Cause> hanging_roots(const ingest::IngestStatus& status) {
  std::vector<Cause> causes;
  for (const ingest::RootStatus& root : status.roots) {
    if (!root.hangs_since) continue;
    causes.push_back({"root_hangs", "The root " + root.path + " does not answer since " +
                                        parser::instant_text_s(*root.hangs_since) +
                                        "; nothing new is read from it until it does."});
  }
  return causes;
}

std::vector<Cause> causes_not_ready(Context& context, const ingest::IngestStatus& status) {
  std::vector<Cause> causes;
  if (!status.first_scan_done) {
    causes.push_back(
        {"first_scan_not_done",
         fmt::format("The first scan of the watched trees is still going on; {} files seen so far.",
                     status.files_seen)});
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
  const ingest::IngestStatus status = context.options.ingest_status();
  std::vector<Cause> causes = causes_not_ready(context, status);
  std::vector<Cause> hanging = hanging_roots(status);
  const bool is_degraded = !hanging.empty() && hanging.size() < status.roots.size();
  const bool is_ready = causes.empty() && (hanging.empty() || is_degraded);
  std::move(hanging.begin(), hanging.end(), std::back_inserter(causes));
  Json list = Json::array();
  std::string detail;
  for (const Cause& cause : causes) {
    list.push_back({{"cause", cause.name}, {"detail", cause.detail}});
    detail += (detail.empty() ? "" : " ") + cause.name + ": " + cause.detail;
  }
  if (is_ready) {
    return uncached(http::json_response(
        to_text({{"status", is_degraded ? "degraded" : "ready"}, {"causes", std::move(list)}})));
  }
  const Json json = {{"type", "about:blank"},
                     {"title", "Not ready"},
                     {"status", 503},
                     {"detail", detail},
                     {"causes", std::move(list)}};
  http::Response response = http::json_response(to_text(json), 503);
  response.content_type = "application/problem+json";
  return uncached(std::move(response));
}

}  // namespace llmb::api
