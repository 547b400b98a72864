// POST /api/v1/push: what an agent on another cluster tells of its logs. GET /api/v1/push: what is
// held by its word, for its comparison. Both take a token of the scope `ingest` that is bound to
// the cluster. Rows are written by ingest's one writer; where that has no room, or takes long, the
// agent is told when to come again, and finds out then what was stored.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "server/api/access.h"
#include "server/api/change_events.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/dispatch/wall_clock.h"
#include "server/http/compression.h"
#include "server/ingest/listed_result.h"
#include "server/push/json_fields.h"
#include "server/push/packed_telling.h"
#include "server/push/packed_values.h"
#include "server/push/push_request.h"

namespace llmb::api {
namespace {

using storage::PushVerdict;

// One request of that size takes some ten times as much memory while it is read.
constexpr std::size_t kBodyBytesMax = std::size_t{8} << 20U;
constexpr int kPushesAtOnce = 2;
constexpr std::chrono::seconds kPatience{20};  // for the writer
constexpr std::size_t kLogsMax = 1'000;
constexpr std::int64_t kHeldLogsMax = 2'000;

RequestError busy(const char* why, const char* retry_after_s) {
  return {503, "Busy", why, {{"Retry-After", retry_after_s}}};
}

void require_receiving(const Context& context) {
  if (context.options.write && context.options.tokens != nullptr) return;
  throw RequestError(501, "Receiving is off",
                     "This server takes no pushed runs: start it with `llmb-report serve "
                     "--receive`.");
}

void require_own_cluster(const storage::TokenRecord& token, const std::string& cluster) {
  if (!cluster.empty() && token.cluster == cluster) return;
  throw RequestError(
      403, "Forbidden",
      token.cluster.empty()
          ? fmt::format("The token '{}' is bound to no cluster: make one with `llmb-report token "
                        "create NAME --scope ingest --for-cluster {}`.",
                        token.name, cluster)
          : fmt::format("The token '{}' is for the runs of cluster '{}', not of '{}'.", token.name,
                        token.cluster, cluster));
}

// As many as may be read and written at once.
class Turn {
 public:
  explicit Turn(std::atomic<int>& under_way) : under_way_(under_way) {
    if (under_way_.fetch_add(1) < kPushesAtOnce) return;
    under_way_.fetch_sub(1);
    throw busy("Other agents push just now.", "1");
  }
  ~Turn() { under_way_.fetch_sub(1); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<int>& under_way_;
};

std::string plain_body(const http::Request& request) {
  const std::string encoding = request.header("content-encoding").value_or("identity");
  if (encoding == "identity") return request.body;
  if (encoding != "zstd") {
    throw RequestError(415, "Unsupported media type",
                       "The body may be encoded as zstd, or not at all.",
                       {{"Accept-Encoding", "zstd"}});
  }
  auto body = http::decompress_zstd(request.body, kBodyBytesMax);
  if (body) return std::move(*body);
  throw RequestError(
      413, "Content too large",
      fmt::format("The body is no zstd, or has more than {} bytes without it.", kBodyBytesMax));
}

// What a request asks to be written, and what came of it. Shared with the writer's thread, which
// may come to it after the request was answered.
struct PushWork {
  storage::PushSender sender;
  std::vector<storage::LogTelling> logs;
  storage::PushAgentRecord agent;
  bool is_last = false;      // the sender goes for good
  std::string renamed_from;  // the sender's cluster was called so; empty: it was not
  std::atomic<bool> is_given_up = false;
  std::promise<std::vector<storage::PushResult>> results;
};

void write_work(storage::Writer& writer, PushWork& work) {
  if (work.is_given_up) return;
  try {
    if (!work.renamed_from.empty()) {
      writer.rename_pushed_cluster(work.renamed_from, work.sender.cluster);
    }
    std::vector<storage::PushResult> results;
    if (!work.logs.empty()) results = writer.commit_pushed(work.sender, work.logs);
    if (work.is_last) {
      writer.forget_push_agent(work.agent.store_id);
    } else {
      writer.record_push_agent(work.agent);
    }
    work.results.set_value(std::move(results));
  } catch (...) {
    work.results.set_exception(std::current_exception());
  }
}

void take_request(push::PushRequest&& request, const parser::Catalog& catalog, PushWork& work) {
  const push::PushHead& head = request.head;
  work.sender = {head.store_id, head.cluster, dispatch::wall_now()};
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
  }
}

std::shared_ptr<PushWork> read_work(Context& context, const http::Request& request,
                                    const storage::TokenRecord& token) {
  if (request.header("content-type").value_or("") != push::kContentType) {
    throw RequestError(415, "Unsupported media type",
                       fmt::format("The body has to be {}, as agents of this program's version "
                                   "(`llmb-report ingest --push`) send it.",
                                   push::kContentType));
  }
  auto work = std::make_shared<PushWork>();
  try {
    push::PushRequest told = push::unpack_request(plain_body(request), kLogsMax);
    require_own_cluster(token, told.head.cluster);
    take_request(std::move(told), context.catalog(), *work);
  } catch (const push::BadTelling& error) {
    throw bad_request(fmt::format("The body is not understood: {}.", error.what()));
  }
  return work;
}

// The runs of an agent that pushed by another cluster's name are renamed only where the token says
// that it is the same cluster; else they would be here twice.
void find_renaming(Context& context, const storage::TokenRecord& token, PushWork& work) {
  const auto agents =
      context.readers.with_reader([](storage::Reader& reader) { return reader.push_agents(); });
  for (const storage::PushAgentRecord& agent : agents) {
    if (agent.store_id != work.sender.store_id || agent.cluster == work.sender.cluster) continue;
    if (token.former_cluster == agent.cluster) {
      work.renamed_from = agent.cluster;
      return;
    }
    throw RequestError(
        409, "Cluster renamed",
        fmt::format("This agent's runs are here as those of cluster '{0}'. To rename that, give it "
                    "a token made with `llmb-report token create NAME --scope ingest "
                    "--for-cluster {1} --formerly {0}`; for another cluster, give it another "
                    "database.",
                    agent.cluster, work.sender.cluster));
  }
}

std::vector<storage::PushResult> written(Context& context, const std::shared_ptr<PushWork>& work) {
  auto results = work->results.get_future();
  const bool is_taken =
      context.options.write([work](storage::Writer& writer) { write_work(writer, *work); });
  if (!is_taken) throw busy("Too much waits to be written.", "2");
  if (results.wait_for(kPatience) != std::future_status::ready) {
    work->is_given_up = true;
    throw busy("Nothing is written just now (a full disk, say): see /readyz.", "30");
  }
  try {
    return results.get();
  } catch (const std::future_error&) {  // ingest stopped before its turn
    throw busy("The server stops.", "10");
  } catch (const storage::StorageError& error) {
    if (error.kind != storage::StorageError::Kind::constraint) throw;
    throw RequestError(422, "Not storable", error.what());
  }
}

http::Response uncached_json(const Json& json) {
  http::Response response = http::json_response(to_text(json));
  response.cache_control = "no-store";
  return response;
}

}  // namespace

http::Response post_push(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  require_receiving(context);
  const storage::TokenRecord token = require_token(context, request, "ingest");
  const Turn turn(context.pushes_under_way);
  const auto work = read_work(context, request, token);
  find_renaming(context, token, *work);
  const auto results = written(context, work);
  Json json = {{"format", push::kFormat}, {"instance", context.instance}};
  json["results"] = Json::array();
  for (const storage::PushResult& result : results) {
    json["results"].push_back({{"verdict", std::string(push::push_verdict_name(result.verdict))},
                               {"revision", result.revision},
                               {"step_count", result.step_count}});
    if (result.verdict != PushVerdict::taken) continue;
    using Kind = ingest::RunChange::Kind;
    publish_change(*context.options.events,
                   {result.is_new ? Kind::added : Kind::grown, result.run});
  }
  return uncached_json(json);
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
  const auto logs = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.held_logs(store, cluster, after, limit); });
  Json json = {{"format", push::kFormat}, {"instance", context.instance}};
  json["logs"] = Json::array();
  for (const storage::HeldLog& log : logs) {
    json["logs"].push_back({{"root", push::text_json(log.root_path)},
                            {"relative_path", push::text_json(log.relative_path)},
                            {"generation", log.generation},
                            {"revision", log.revision},
                            {"step_count", log.step_count}});
  }
  const bool may_have_more = static_cast<std::int64_t>(logs.size()) == limit;
  json["next_after"] = may_have_more ? Json(logs.back().run) : Json(nullptr);
  return uncached_json(json);
}

}  // namespace llmb::api
