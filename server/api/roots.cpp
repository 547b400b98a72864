// GET /api/v1/roots: the watched trees, those that agents push, the agents, and the files that
// cannot be read just now.
#include "parser/foundation/instant.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::api {
namespace {

Json hangs_since_json(const std::vector<ingest::RootStatus>& roots, storage::RootId id) {
  for (const ingest::RootStatus& root : roots) {
    if (root.id != id || !root.hangs_since) continue;
    return parser::instant_text_s(*root.hangs_since);
  }
  return nullptr;
}

Json root_json(const storage::RootRecord& root, const std::vector<ingest::RootStatus>& watched) {
  Json json;
  json["id"] = root.id;
  json["path"] = root.path;
  json["cluster"] = null_if_empty(root.cluster);
  json["is_pushed"] = !root.pushed_from.empty();
  json["last_scan_at"] = nullable(root.last_scan_at);
  json["last_scan_s"] = number(root.last_scan_s);
  json["files_seen"] = root.pushed_from.empty() ? Json(root.files_seen) : Json(nullptr);
  json["error"] = null_if_empty(root.error);
  json["hangs_since"] = hangs_since_json(watched, root.id);
  return json;
}

Json parked_file_json(const storage::ParkedFile& file) {
  Json json;
  json["root_id"] = file.root_id;
  json["relative_path"] = file.relative_path;
  json["reason"] = file.reason;
  json["parked_at"] = file.parked_at;
  json["retry_at"] = file.retry_at;
  json["failures"] = file.failures;
  return json;
}

Json agent_json(const storage::PushAgentRecord& agent) {
  Json json;
  json["cluster"] = agent.cluster;
  json["name"] = agent.name;
  json["store_id"] = agent.store_id;
  json["version"] = agent.version;
  json["last_seen_at"] = agent.last_seen_at;
  json["logs_pending"] = agent.logs_pending;
  json["pending_since"] = nullable(agent.pending_since);
  return json;
}

}  // namespace

http::Response get_roots(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const auto watched = context.options.ingest_status().roots;
  const Json json = context.readers.with_reader([&](storage::Reader& reader) {
    Json lists = {
        {"roots", Json::array()}, {"parked_files", Json::array()}, {"agents", Json::array()}};
    for (const auto& root : reader.roots()) lists["roots"].push_back(root_json(root, watched));
    for (const auto& file : reader.parked_files()) {
      lists["parked_files"].push_back(parked_file_json(file));
    }
    for (const auto& agent : reader.listed_push_agents(dispatch::wall_now())) {
      lists["agents"].push_back(agent_json(agent));
    }
    return lists;
  });
  // Scans are recorded without a new data revision, so the tag is the content's.
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
