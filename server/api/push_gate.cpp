#include "server/api/push_gate.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "server/api/request_body.h"
#include "server/api/request_error.h"
#include "server/push/packed_telling.h"
#include "server/push/push_request.h"
#include "storage/packed_values.h"

namespace llmb::api {
namespace {

constexpr std::chrono::seconds kPatience{20};  // for the writer

RequestError busy(const char* why, const char* retry_after_s) {
  return {503, "Busy", why, {{"Retry-After", retry_after_s}}};
}

struct WriteTask {
  std::function<void(storage::Writer&)> task;
  std::atomic<bool> is_given_up = false;
  std::promise<void> done;

  void run(storage::Writer& writer) {
    if (is_given_up) return;
    try {
      task(writer);
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  }
};

}  // namespace

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

void understand(const std::function<void()>& unpack) {
  const auto complaint = [](const storage::BadField& error) {
    return fmt::format("The body is not understood: {}.", error.what());
  };
  try {
    unpack();
  } catch (const push::ForeignForm& error) {
    throw RequestError(409, "Other version", complaint(error));
  } catch (const storage::BadField& error) {
    throw bad_request(complaint(error));
  }
}

void require_content_type(const http::Request& request, const char* wanted) {
  require_media_type(request, wanted,
                     fmt::format("The body has to be {}, as agents of this program's version "
                                 "(`llmb-report ingest --push`) send it.",
                                 wanted));
}

PushTurn::PushTurn(Context& context, const http::Request& request,
                   const storage::TokenRecord& token)
    : turns_(context.push_turns),
      agent_(token.name + ' ' + request.header(push::kStoreHeader).value_or("")) {
  if (!turns_.take(agent_)) throw busy("As many push just now as may at once.", "1");
}

PushTurn::~PushTurn() {
  turns_.give_back(agent_);
}

void write_in_turn(Context& context, std::function<void(storage::Writer&)> task) {
  auto written = std::make_shared<WriteTask>();
  written->task = std::move(task);
  auto done = written->done.get_future();
  // The writer alone holds it: where that goes without having come to it, `done` knows.
  const std::weak_ptr<WriteTask> waiting = written;
  const bool is_taken = context.options.write(
      [written = std::move(written)](storage::Writer& writer) { written->run(writer); });
  if (!is_taken) throw busy("Too much waits to be written.", "2");
  if (done.wait_for(kPatience) != std::future_status::ready) {
    if (const auto late = waiting.lock()) late->is_given_up = true;
    throw busy("Nothing is written just now (a full disk, say): see /readyz.", "30");
  }
  try {
    done.get();
  } catch (const std::future_error&) {  // ingest stopped before its turn
    throw busy("The server stops.", "10");
  } catch (const storage::StorageError& error) {
    if (error.kind != storage::StorageError::Kind::constraint) throw;
    throw RequestError(422, "Not storable", error.what());
  }
}

std::string instance_for_agents(Context& context) {
  const std::int64_t mark =
      context.readers.with_reader([](storage::Reader& reader) { return reader.held_logs_mark(); });
  return mark == 0 ? context.instance : fmt::format("{}{}", context.instance, mark);
}

http::Response answer_agent(const std::string& instance, const Json& fields) {
  Json json = {{"format", push::kFormat}, {"instance", instance}};
  json.update(fields);
  http::Response response = http::json_response(to_text(json));
  response.cache_control = "no-store";
  return response;
}

}  // namespace llmb::api
