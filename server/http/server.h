// Server: listens, speaks HTTP/1.1 (and TLS), and asks the Router for every answer.
// Runs on its own few threads between start() and stop(); the Router must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "server/http/router.h"
#include "server/http/server_options.h"

namespace llmb::http {

class Server {
 public:
  Server(const ServerOptions& options, const Router& router);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Throws std::runtime_error that names the address and what to do: port in use, address not
  // loopback without TLS or behind_proxy, certificate unreadable.
  void start();
  // Finishes what is being written within two seconds, and waits for the handlers that still run.
  // Idempotent.
  void stop();

  // Has `task` run once, at low priority, beside the handlers that compute: work that later
  // questions are spared. It has to end soon once `is_stopping` says yes. What it throws is logged.
  using BackgroundTask = std::function<void(const std::function<bool()>& is_stopping)>;
  void run_in_background(BackgroundTask task);

  std::uint16_t port() const;  // the one listened on
  ServerCounters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::http
