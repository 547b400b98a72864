#include "server/http/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "server/http/target.h"

namespace llmb::http {
namespace {

Response internal_error(const Request& request, const char* what) {
  spdlog::error("{} {} failed: {}", request.method, request.target, what);
  return problem(500, "Internal server error",
                 "the request could not be answered; the server's log says why");
}

bool is_loopback_name(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

}  // namespace

Service::Service(const ServerOptions& server_options, const Router& router)
    : options(server_options),
      router_(router),
      checks_host_(!options.allowed_hosts.empty() ||
                   (is_loopback_name(options.address) && !options.behind_proxy)),
      cache_(options.response_cache_bytes_max) {}

Response Service::handle_request(Request& request) const {
  try {
    return router_.dispatch(request);
  } catch (const std::exception& error) {
    return internal_error(request, error.what());
  } catch (...) {
    return internal_error(request, "an exception that is no std::exception");
  }
}

WireResponse Service::finish(const Request& request, Response& response,
                             const WireOptions& wire_options) {
  WireResponse wire;
  try {
    wire = make_wire_response(request, response, wire_options, cache_);
  } catch (const std::exception& error) {
    response = internal_error(request, error.what());
    wire = make_wire_response(request, response, wire_options, cache_);
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
                 "this server does not answer to the name \"" + request.host +
                     "\"; use localhost or 127.0.0.1, or add the name to allowed_hosts");
}

std::size_t Service::body_bytes_max(const Request& request) const {
  return router_.body_bytes_max(request.method, request.path).value_or(options.body_bytes_max);
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
  counters.deadlines_missed = connections.deadlines_missed();
  counters.accept_pauses = accept_pauses;
  counters.event_streams_open = event_streams_open;
  return counters;
}

}  // namespace llmb::http
