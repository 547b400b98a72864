// POST /api/v1/push/text: blocks of the text of logs that an agent on another cluster told before.
// They are kept as they came, for GET /api/v1/runs/{id}/log.
#include <memory>

#include "server/api/access.h"
#include "server/api/json.h"
#include "server/api/push_gate.h"
#include "server/api/query_parameters.h"
#include "server/api/request_body.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/dispatch/wall_clock.h"
#include "server/push/log_text_request.h"

namespace llmb::api {
namespace {

// Shared with the writer's thread.
struct TextWork {
  push::LogTextRequest request;
  std::vector<std::optional<std::uint64_t>> ends;
};

push::LogTextRequest read_request(const http::Request& request) {
  require_content_type(request, push::kTextContentType);
  require_not_encoded(request);
  push::LogTextRequest told;
  understand([&] { told = push::unpack_text_request(request.body); });
  return told;
}

}  // namespace

http::Response post_push_text(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  require_receiving(context);
  const storage::TokenRecord token = require_token(context, request, "ingest");
  const PushTurn turn(context, request, token);
  const std::string instance = instance_for_agents(context);
  const auto work = std::make_shared<TextWork>();
  work->request = read_request(request);
  require_own_cluster(token, work->request.head.cluster);
  write_in_turn(context, [work](storage::Writer& writer) {
    const push::PushHead& head = work->request.head;
    work->ends = writer.commit_log_blocks({head.store_id, head.cluster, dispatch::wall_now()},
                                          work->request.blocks);
  });
  Json json;
  json["text_bytes"] = Json::array();
  for (const auto& end : work->ends) json["text_bytes"].push_back(end ? Json(*end) : Json(nullptr));
  return answer_agent(instance, json);
}

}  // namespace llmb::api
