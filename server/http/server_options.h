// What a server is told (ServerOptions) and what it counts (ServerCounters). Plain values; the
// server itself is in server.h.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace llmb::http {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;         // 0: any free one
  std::string tls_certificate_file;  // PEM; both or none
  std::string tls_key_file;
  bool behind_proxy = false;  // allows a non-loopback address without TLS
  // Names a client may ask for in Host. On a loopback address that is not behind a proxy (and
  // wherever the list is not empty) all others but the loopback's own are refused: a foreign page
  // must not reach the server by pointing its own name at 127.0.0.1 (DNS rebinding).
  std::vector<std::string> allowed_hosts;
  int threads = 2;  // serve the connections and the quick handlers
  // The two pools for long handlers (see Work in router.h), and how many requests may wait for
  // each: further ones get a 503.
  int computing_threads = 2;
  int waiting_threads = 8;
  std::size_t queued_requests_max = 64;
  // Bodies that are read while they are sent: how many at once, which bounds the memory that they
  // take, and the threads of their pool.
  std::size_t streams_max = 16;
  int streaming_threads = 4;
  // Beyond, a connection gets a 503. start() raises the process's limit on descriptors where it
  // may, and lowers this number where the limit would leave less than descriptors_reserved for the
  // rest of the process (logs, database, pipes to other programs).
  std::size_t connections_max = std::size_t{24} * 1024;
  std::size_t descriptors_reserved = 512;
  std::size_t header_bytes_max = std::size_t{8} * 1024;
  std::size_t body_bytes_max = std::size_t{1024} * 1024;
  // One deadline for a whole message, however its chunks trickle in.
  std::chrono::milliseconds read_deadline{10'000};
  // For a response, or for each MiB of a large one.
  std::chrono::milliseconds write_deadline{30'000};
  std::chrono::milliseconds idle_deadline{60'000};
  std::chrono::milliseconds event_heartbeat{15'000};
  std::size_t response_cache_bytes_max = std::size_t{32} * 1024 * 1024;
  // Bodies of a MiB or more in memory at once, from being made to being sent, packed where they are
  // held so, and smaller ones. A request for which there is no room gets a 503.
  std::size_t large_bodies_bytes_max = std::size_t{128} * 1024 * 1024;
  std::size_t other_bodies_bytes_max = std::size_t{128} * 1024 * 1024;
};

inline constexpr std::array<double, 9> kLatencyBoundsS = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                          0.025,  0.1,   0.5,    2.5};

struct ServerCounters {
  std::uint64_t requests = 0;
  std::uint64_t responses_by_class[6] = {};  // index: status / 100
  std::uint64_t connections_open = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t connections_max = 0;   // as the limit on descriptors allows
  std::uint64_t deadlines_missed = 0;  // messages not received, or not taken, in their time
  std::uint64_t accept_pauses = 0;     // times that descriptors ran out
  std::uint64_t event_streams_open = 0;
  std::uint64_t body_streams_open = 0;   // bodies that are read while they are sent
  std::uint64_t requests_computing = 0;  // on the pools now, waiting for a thread included
  std::uint64_t requests_waiting = 0;
  std::uint64_t requests_refused_busy = 0;  // answered 503: a pool's queue or the memory was full
  std::uint64_t large_bodies_bytes = 0;     // in memory now, what making them takes included
  std::uint64_t other_bodies_bytes = 0;     // of 4 KiB to a MiB, and blocks of larger ones
  // From a request's last byte to its response's first: how many took at most
  // kLatencyBoundsS[i] seconds and more than the bound before; the last element: longer than all.
  std::array<std::uint64_t, kLatencyBoundsS.size() + 1> latency_counts = {};
  double latency_s_sum = 0;
};

}  // namespace llmb::http
