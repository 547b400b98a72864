// Service: what all connections of one server share, the plain function from a request to the
// response that goes out, and the pools on which long handlers run. Knows no socket.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "server/http/body_cache.h"
#include "server/http/connection_table.h"
#include "server/http/held_bodies.h"
#include "server/http/router.h"
#include "server/http/server_options.h"
#include "server/http/wire_response.h"
#include "server/http/worker_pool.h"

namespace llmb::http {

class Service {
 public:
  Service(const ServerOptions& options, const Router& router);

  // The pool on which `request` has to be answered; null: the caller's thread is good enough.
  WorkerPool* pool_for(const Request& request);
  // Has `task` run on the pool of handlers that compute; not where that is full or was stopped.
  void compute(std::function<void()> task) { computing_.submit(std::move(task)); }
  // Where bodies that are read while they are sent are read: it has room for all that there may be.
  WorkerPool& streaming_pool() { return streaming_; }
  // For a request that its pool refused (503).
  Response busy_response();
  // Returns once no handler runs on a pool any more.
  void stop_pools();

  // The handler's answer. What a handler throws becomes the problem response that it tells, or is
  // logged and becomes a 500 without its text.
  Response handle_request(Request& request) const;

  // The same as bytes; counted. Replaces `response` by a problem where its body cannot be made.
  // An event stream's response gets the headers of one.
  WireResponse finish(const Request& request, Response& response, WireOptions wire_options);

  // 421 where the request's host is not one that this server answers to; else nothing.
  std::optional<Response> check_host(const Request& request) const;
  std::size_t body_bytes_max(const Request& request) const;

  void count_latency(std::chrono::steady_clock::duration latency);
  ServerCounters counters() const;

  const ServerOptions options;
  ConnectionTable connections;
  std::atomic<bool> is_stopping = false;
  std::atomic<std::uint64_t> connections_refused = 0;
  std::atomic<std::size_t> connections_max;  // set before the first connection
  std::atomic<std::uint64_t> accept_pauses = 0;
  std::atomic<std::uint64_t> event_streams_open = 0;

 private:
  const Router& router_;
  const bool checks_host_;
  BodyCache cache_;
  const HeldBodies held_bodies_;
  WorkerPool computing_;
  WorkerPool waiting_;
  WorkerPool streaming_;
  std::atomic<std::uint64_t> requests_refused_busy_ = 0;
  std::array<std::atomic<std::uint64_t>, 6> responses_by_class_ = {};
  std::array<std::atomic<std::uint64_t>, kLatencyBoundsS.size() + 1> latency_counts_ = {};
  std::atomic<std::uint64_t> latency_ns_sum_ = 0;
};

}  // namespace llmb::http
