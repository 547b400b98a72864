// POST /api/v1/push: what an agent on another cluster tells of its logs. GET /api/v1/push: what is
// held by its word, for its comparison. Both take a token of the scope `ingest` that is bound to
// the cluster (push_gate.h). An agent that got no answer finds out what was stored when it comes
// again.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "server/api/access.h"
#include "server/api/change_events.h"
#include "server/api/json.h"
#include "server/api/push_gate.h"
#include "server/api/query_parameters.h"
#include "server/api/request_body.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/dispatch/wall_clock.h"
#include "server/http/compression.h"
#include "server/ingest/listed_result.h"
#include "server/push/json_fields.h"
#include "server/push/packed_telling.h"
#include "server/push/push_request.h"
#include "storage/packed_chunk.h"

namespace llmb::api {
namespace {

using storage::PushVerdict;

// One request of that size takes some ten times as much memory while it is read.
constexpr std::size_t kBodyBytesMax = std::size_t{8} << 20U;
constexpr std::size_t kLogsMax = 1'000;
constexpr std::int64_t kHeldLogsMax = 2'000;

std::string plain_body(const http::Request& request) {
  const std::string encoding = content_encoding(request);
  if (encoding == "identity") return request.body;
  if (encoding != "zstd") {
    throw RequestError(415, "Unsupported media type",
                       "The body may be encoded as zstd, or not at all.",
                       {{"Accept-Encoding", "zstd"}});
  }
  auto body = http::decompress_zstd(request.body, kBodyBytesMax);
  if (body) return std::move(*body);
  if (body.error() == http::ZstdError::damaged) {
    throw bad_request(
        "The body cannot be unpacked: it is no zstd, not all of it came, or its window has more "
        "than 8 MiB.");
  }
  throw RequestError(
      413, "Content too large",
      fmt::format("The body has more than {} bytes without its encoding.", kBodyBytesMax));
}

// What a request asks to be written, and what came of it. Shared with the writer's thread, which
// may come to it after the request was answered.
struct PushWork {
  storage::PushSender sender;
  std::vector<storage::LogTelling> logs;
  storage::PushAgentRecord agent;
  bool is_last = false;      // the sender goes for good
  std::string renamed_from;  // the sender's cluster was called so; empty: it was not
  std::vector<storage::PushResult> results;
};

void write_work(storage::Writer& writer, PushWork& work) {
  if (!work.renamed_from.empty()) {
    writer.rename_pushed_cluster(work.renamed_from, work.sender.cluster);
  }
  if (!work.logs.empty()) {
    work.results = writer.commit_pushed(work.sender, std::move(work.logs));
  }
  if (work.is_last) {
    writer.forget_push_agent(work.agent.store_id);
  } else {
    writer.record_push_agent(work.agent);
  }
}

void take_request(push::PushRequest&& request, const parser::Catalog& catalog, PushWork& work) {
  const push::PushHead& head = request.head;
  work.sender = {head.store_id, head.cluster, dispatch::wall_now()};
  if (const auto sent_at = parser::parse_instant(head.sent_at)) {
    work.sender.clock_ahead = *sent_at - work.sender.now;
  }
  work.agent = {head.store_id,
                head.cluster,
                head.agent,
                head.version,
                parser::instant_text(work.sender.now),
                head.logs_pending,
                std::nullopt};
  if (parser::parse_instant(head.pending_since)) work.agent.pending_since = head.pending_since;
  work.is_last = head.is_last;
  work.logs = std::move(request.logs);
  // By this server's catalog, like those of the trees that it watches.
  for (storage::LogTelling& log : work.logs) {
    log.run.listed = ingest::listed_result(catalog, log.run);
    if (log.is_settled_now() && log.is_whole()) log.packed_steps = storage::pack_chunks(log.steps);
  }
}

std::shared_ptr<PushWork> read_work(Context& context, const http::Request& request,
                                    const storage::TokenRecord& token) {
  require_content_type(request, push::kContentType);
  auto work = std::make_shared<PushWork>();
  understand([&] {
    push::PushRequest told = push::unpack_request(plain_body(request), kLogsMax);
    require_own_cluster(token, told.head.cluster);
    take_request(std::move(told), context.catalog(), *work);
  });
  return work;
}

[[noreturn]] void refuse_renaming(const std::string& stored, const std::string& told) {
  throw RequestError(
      409, "Cluster renamed",
      fmt::format(
          "This agent's runs are here as those of cluster '{0}', and it calls itself '{1}'. "
          "Where the cluster is called '{0}' by now, start the agent with --cluster {0} "
          "and a token of that name. Where it is to be called '{1}' from now on, with all "
          "that is here as '{0}', give the agent a token made with `llmb-report token "
          "create NAME --scope ingest --for-cluster {1} --formerly {0}`. Where it is "
          "another cluster, give the agent another database.",
          stored, told));
}

// Both were pushed, and their runs are not mixed.
void require_no_twins(Context& context, const std::string& from, const std::string& to) {
  const auto twins = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.trees_of_both(from, to); });
  if (twins.empty()) return;
  throw RequestError(
      409, "Cluster pushed under both names",
      fmt::format("The cluster '{0}' cannot be renamed to '{1}': there are runs of both of {2}. "
                  "Remove those of '{1}' (where the database is a file, while this server is "
                  "stopped) with `llmb-report prune --db DB --cluster {1} --root {3} --yes`, and "
                  "the next push renames it.",
                  from, to, fmt::join(twins, ", "), twins.front()));
}

// The runs of an agent that pushed by another cluster's name are renamed only where the token says
// that it is the same cluster; else they would be here twice.
void find_renaming(Context& context, const storage::TokenRecord& token, PushWork& work) {
  const auto agents =
      context.readers.with_reader([](storage::Reader& reader) { return reader.push_agents(); });
  for (const storage::PushAgentRecord& agent : agents) {
    if (agent.store_id != work.sender.store_id || agent.cluster == work.sender.cluster) continue;
    if (token.former_cluster != agent.cluster) {
      refuse_renaming(agent.cluster, work.sender.cluster);
    }
    require_no_twins(context, agent.cluster, work.sender.cluster);
    work.renamed_from = agent.cluster;
    return;
  }
}

}  // namespace

http::Response post_push(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  require_receiving(context);
  const storage::TokenRecord token = require_token(context, request, "ingest");
  const PushTurn turn(context, request, token);
  const std::string instance = instance_for_agents(context);
  const auto work = read_work(context, request, token);
  find_renaming(context, token, *work);
  write_in_turn(context, [work](storage::Writer& writer) { write_work(writer, *work); });
  Json json;
  json["results"] = Json::array();
  for (const storage::PushResult& result : work->results) {
    json["results"].push_back({{"verdict", std::string(push::push_verdict_name(result.verdict))},
                               {"revision", result.revision},
                               {"step_count", result.step_count}});
  }
  return answer_agent(instance, json);
}

http::Response get_push(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"cluster", "store_id", "after", "limit"});
  require_receiving(context);
  const storage::TokenRecord token = require_token(context, request, "ingest");
  const std::string cluster = parameters.text("cluster").value_or("");
  require_own_cluster(token, cluster);
  const std::string store = parameters.text("store_id").value_or("");
  const std::int64_t after = parameters.integer("after", 0, INT64_MAX).value_or(0);
  const std::int64_t limit = parameters.integer("limit", 1, kHeldLogsMax).value_or(kHeldLogsMax);
  const std::string instance = instance_for_agents(context);
  const auto logs = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.held_logs(store, cluster, after, limit); });
  Json json;
  json["logs"] = Json::array();
  for (const storage::HeldLog& log : logs) {
    json["logs"].push_back({{"root", push::text_json(log.root_path)},
                            {"relative_path", push::text_json(log.relative_path)},
                            {"generation", log.generation},
                            {"revision", log.revision},
                            {"step_count", log.step_count},
                            {"text_bytes", log.text_bytes}});
  }
  const bool may_have_more = static_cast<std::int64_t>(logs.size()) == limit;
  json["next_after"] = may_have_more ? Json(logs.back().run) : Json(nullptr);
  return answer_agent(instance, json);
}

}  // namespace llmb::api
