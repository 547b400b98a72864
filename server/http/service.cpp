#include "server/http/service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "server/http/request_error.h"
#include "server/http/target.h"

namespace llmb::http {
namespace {

Response internal_error(const Request& request, const char* what) {
  spdlog::error("{} {} failed: {}", request.method, request.target, what);
  return problem(500, "Internal server error",
                 "the request could not be answered; the server's log says why");
}

// What clients on this machine may call a server that listens there.
std::string own_names(const std::string& address) {
  if (!is_loopback_name(address) || address == "127.0.0.1") return "localhost or 127.0.0.1";
  return address.find(':') == std::string::npos ? address : fmt::format("[{}]", address);
}

}  // namespace

Service::Service(const ServerOptions& server_options, const Router& router)
    : options(server_options),
      connections_max(options.connections_max),
      router_(router),
      checks_host_(!options.allowed_hosts.empty() ||
                   (is_loopback_name(options.address) && !options.behind_proxy)),
      cache_(options.response_cache_bytes_max),
      held_bodies_(options.large_bodies_bytes_max, options.other_bodies_bytes_max,
                   options.streams_max),
      computing_(options.computing_threads, options.queued_requests_max, WorkerPool::Priority::low),
      waiting_(options.waiting_threads, options.queued_requests_max, WorkerPool::Priority::normal),
      streaming_(options.streaming_threads, options.streams_max, WorkerPool::Priority::low) {}

WorkerPool* Service::pool_for(const Request& request) {
  switch (router_.options_for(request.method, request.path).work) {
    case Work::computing:
      return &computing_;
    case Work::waiting:
      return &waiting_;
    case Work::quick:
      break;
  }
  return nullptr;
}

Response Service::busy_response() {
  ++requests_refused_busy_;
  return problem(RequestError(
      503, "Busy", "Too many requests of this kind are being answered; ask again in a moment.",
      {{"Retry-After", "5"}}));
}

void Service::stop_pools() {
  computing_.stop();
  waiting_.stop();
  streaming_.stop();
}

Response Service::handle_request(Request& request) const {
  try {
    return router_.dispatch(request);
  } catch (const RequestError& error) {
    return problem(error);
  } catch (const std::exception& error) {
    return internal_error(request, error.what());
  } catch (...) {
    return internal_error(request, "an exception that is no std::exception");
  }
}

WireResponse Service::finish(const Request& request, Response& response, WireOptions wire_options) {
  WireResponse wire;
  if (response.events != nullptr) {
    response.content_type = "text/event-stream";
    response.cache_control = "no-store";
    wire_options.keep_alive = false;
  }
  const auto make_wire = [&] {
    router_.finish(request, response);
    return make_wire_response(request, response, wire_options, cache_, held_bodies_);
  };
  try {
    wire = make_wire();
  } catch (const RequestError& error) {
    if (error.status == 503) ++requests_refused_busy_;
    response = problem(error);
    wire = make_wire();
  } catch (const std::exception& error) {
    response = internal_error(request, error.what());
    wire = make_wire();
  }
  const auto response_class = static_cast<std::size_t>(std::clamp(wire.status / 100, 0, 5));
  responses_by_class_[response_class].fetch_add(1, std::memory_order_relaxed);
  return wire;
}

std::optional<Response> Service::check_host(const Request& request) const {
  // HTTP/1.0 may lack the header; a browser, which is who must be guarded, never does.
  if (!checks_host_ || request.host.empty() ||
      host_is_allowed(request.host, options.allowed_hosts)) {
    return std::nullopt;
  }
  return problem(421, "Misdirected request",
                 fmt::format("this server does not answer to the name \"{}\"; use {}, or allow the "
                             "name: --allow-host, or allowed_hosts in the configuration",
                             request.host, own_names(options.address)));
}

std::size_t Service::body_bytes_max(const Request& request) const {
  return router_.options_for(request.method, request.path)
      .body_bytes_max.value_or(options.body_bytes_max);
}

void Service::count_latency(std::chrono::steady_clock::duration latency) {
  const double latency_s = std::chrono::duration<double>(latency).count();
  const auto bucket = std::lower_bound(kLatencyBoundsS.begin(), kLatencyBoundsS.end(), latency_s);
  const auto index = static_cast<std::size_t>(bucket - kLatencyBoundsS.begin());
  latency_counts_[index].fetch_add(1, std::memory_order_relaxed);
  const auto latency_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(latency).count();
  latency_ns_sum_.fetch_add(static_cast<std::uint64_t>(latency_ns), std::memory_order_relaxed);
}

ServerCounters Service::counters() const {
  ServerCounters counters;
  for (std::size_t i = 0; i < responses_by_class_.size(); ++i) {
    counters.responses_by_class[i] = responses_by_class_[i];
    counters.requests += counters.responses_by_class[i];
  }
  for (std::size_t i = 0; i < latency_counts_.size(); ++i) {
    counters.latency_counts[i] = latency_counts_[i];
  }
  counters.latency_s_sum = static_cast<double>(latency_ns_sum_) * 1e-9;
  counters.connections_open = connections.size();
  counters.connections_refused = connections_refused;
  counters.connections_max = connections_max;
  counters.requests_computing = computing_.size();
  counters.requests_waiting = waiting_.size();
  counters.requests_refused_busy = requests_refused_busy_;
  counters.large_bodies_bytes = held_bodies_.large_bytes();
  counters.other_bodies_bytes = held_bodies_.other_bytes();
  counters.deadlines_missed = connections.deadlines_missed();
  counters.accept_pauses = accept_pauses;
  counters.event_streams_open = event_streams_open;
  counters.body_streams_open = held_bodies_.streams();
  return counters;
}

}  // namespace llmb::http
