// RequestMetrics: how long the handlers took, by route. Routes are known beforehand, so that the
// number of series is bounded whatever clients ask for.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace llmb::api {

// Upper bounds of the histogram's buckets, in seconds; one more bucket holds the rest.
constexpr std::array<double, 10> kHandlerLatencyBoundsS = {0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                                           0.005,  0.01,    0.05,   0.25,  1.0};

struct RouteLatency {
  std::array<std::uint64_t, kHandlerLatencyBoundsS.size() + 1> buckets{};  // not cumulative
  std::uint64_t count = 0;
  double sum_s = 0;
};

// Thread-safe.
class RequestMetrics {
 public:
  void record(const std::string& route, std::chrono::duration<double> taken);
  std::map<std::string, RouteLatency> by_route() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, RouteLatency> by_route_;
};

}  // namespace llmb::api
