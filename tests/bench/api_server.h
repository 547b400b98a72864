// The real API on a real HTTP server of the loopback, as the benchmarks of both start it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "server/api/api.h"
#include "server/http/server.h"

namespace llmb::bench {

class ApiServer {
 public:
  using Prepare = std::function<void(api::ApiOptions&)>;

  // `threads`: 0 for as many as the server takes by itself. `prepare` has the last word.
  explicit ApiServer(const std::string& database, int threads = 0, const Prepare& prepare = {})
      : api_(options(database, prepare)) {
    api_.add_routes(router_);
    http::ServerOptions server_options;
    server_options.port = 0;
    if (threads > 0) server_options.threads = threads;
    server_.emplace(server_options, router_);
    server_->start();
  }

  std::uint16_t port() const { return server_->port(); }
  http::ServerCounters counters() const { return server_->counters(); }
  http::EventChannel& events() { return events_; }
  void stop() { server_->stop(); }

 private:
  api::ApiOptions options(const std::string& database, const Prepare& prepare) {
    api::ApiOptions options;
    options.database_path = database;
    options.ingest_status = [] { return ingest::IngestStatus(); };
    options.server_counters = [this] { return server_->counters(); };
    options.events = &events_;
    options.version = "bench";
    if (prepare) prepare(options);
    return options;
  }

  http::EventChannel events_;
  api::Api api_;
  http::Router router_;
  std::optional<http::Server> server_;
};

}  // namespace llmb::bench
