// Server: listens, speaks HTTP/1.1 (and TLS), and asks the Router for every answer.
// Runs on its own few threads between start() and stop(); the Router must outlive it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/router.h"

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
  int threads = 2;
  // Beyond, a connection gets a 503. start() raises the process's own limit on descriptors, where
  // it may, so that they suffice.
  std::size_t connections_max = std::size_t{24} * 1024;
  std::size_t header_bytes_max = std::size_t{8} * 1024;
  std::size_t body_bytes_max = std::size_t{1024} * 1024;
  // One deadline for a whole message, however its chunks trickle in.
  std::chrono::milliseconds read_deadline{10'000};
  // For a response, or for each MiB of a large one.
  std::chrono::milliseconds write_deadline{30'000};
  std::chrono::milliseconds idle_deadline{60'000};
  std::chrono::milliseconds event_heartbeat{15'000};
  std::size_t response_cache_bytes_max = std::size_t{32} * 1024 * 1024;  // bodies kept compressed
};

inline constexpr std::array<double, 9> kLatencyBoundsS = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                          0.025,  0.1,   0.5,    2.5};

struct ServerCounters {
  std::uint64_t requests = 0;
  std::uint64_t responses_by_class[6] = {};  // index: status / 100
  std::uint64_t connections_open = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t deadlines_missed = 0;  // messages not received, or not taken, in their time
  std::uint64_t accept_pauses = 0;     // times that descriptors ran out
  std::uint64_t event_streams_open = 0;
  // From a request's last byte to its response's first: how many took at most
  // kLatencyBoundsS[i] seconds and more than the bound before; the last element: longer than all.
  std::array<std::uint64_t, kLatencyBoundsS.size() + 1> latency_counts = {};
  double latency_s_sum = 0;
};

class Server {
 public:
  Server(const ServerOptions& options, const Router& router);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Throws std::runtime_error that names the address and what to do: port in use, address not
  // loopback without TLS or behind_proxy, certificate unreadable.
  void start();
  // Finishes what is being written, within two seconds. Idempotent.
  void stop();

  std::uint16_t port() const;  // the one listened on
  ServerCounters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::http
