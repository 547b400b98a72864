#include "server/api/request_metrics.h"

#include <algorithm>

namespace llmb::api {

void RequestMetrics::record(const std::string& route, std::chrono::duration<double> taken) {
  const auto bound =
      std::lower_bound(kHandlerLatencyBoundsS.begin(), kHandlerLatencyBoundsS.end(), taken.count());
  const auto bucket = static_cast<std::size_t>(bound - kHandlerLatencyBoundsS.begin());
  const std::scoped_lock lock(mutex_);
  RouteLatency& latency = by_route_[route];
  ++latency.buckets[bucket];
  ++latency.count;
  latency.sum_s += taken.count();
}

std::map<std::string, RouteLatency> RequestMetrics::by_route() const {
  const std::scoped_lock lock(mutex_);
  return by_route_;
}

}  // namespace llmb::api
