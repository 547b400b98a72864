// Server: listens, speaks HTTP/1.1 (and TLS), and asks the Router for every answer.
// Runs on its own few threads between start() and stop(); the Router must outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "server/http/router.h"

namespace llmb::http {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;  // 0: any free one
  std::string tls_certificate_file;  // PEM; both or none
  std::string tls_key_file;
  bool behind_proxy = false;  // allows a non-loopback address without TLS
  int threads = 2;
  std::size_t connections_max = 16384;
  std::size_t header_bytes_max = 8 * 1024;
  std::size_t body_bytes_max = 1024 * 1024;
  // One deadline for a whole message, however its chunks trickle in.
  std::chrono::milliseconds read_deadline{10'000};
  std::chrono::milliseconds write_deadline{30'000};
  std::chrono::milliseconds idle_deadline{60'000};
  std::chrono::milliseconds event_heartbeat{15'000};
};

struct ServerCounters {
  std::uint64_t requests = 0;
  std::uint64_t responses_by_class[6] = {};  // index: status / 100
  std::uint64_t connections_open = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t deadlines_missed = 0;
};

class Server {
 public:
  Server(ServerOptions options, const Router& router);
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
