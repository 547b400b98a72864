// A central server that agents push to, for benchmarks: a real `serve --receive` on loopback.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/http/bearer_token.h"
#include "server/push/push_agent.h"
#include "storage/database.h"
#include "storage/job_store.h"
#include "tests/bench/processor_time.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/temporary_folder.h"

namespace llmb::bench {

// To be caught by main() alone: on the way the server is ended, and folders are removed.
[[noreturn]] inline void give_up(const std::string& why) {
  throw std::runtime_error(why);
}

inline int report_failure(const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

inline double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Serves a database, a file or a PostgreSQL database's URL, until its end.
class CentralServer {
 public:
  CentralServer(const TemporaryFolder& folder, std::string database)
      : folder_(folder), database_(std::move(database)) {
    server_ = std::make_unique<cli::DaemonProcess>(
        folder.path(), std::vector<std::string>{"--receive", "--db", database_, "--listen",
                                                "127.0.0.1:0", "--allow-network-file-system"});
    port_ = server_->port();
    if (port_ == 0) give_up(server_->errors());
  }

  // For an agent of that cluster, with a token of its own.
  push::PushOptions options(const std::string& cluster, const std::string& agent_database) const {
    const std::string token = http::new_token();
    storage::TokenRecord record;
    record.name = cluster + "-agent";
    record.sha256 = http::token_sha256(token);
    record.scopes = {"ingest"};
    record.cluster = cluster;
    record.created_at = "2025-01-01T00:00:00Z";
    record.expires_at = "2999-01-01T00:00:00Z";
    storage::JobStore({database_, true}).insert_token(record);
    push::PushOptions options;
    options.token_file = folder_.file(record.name + ".token");
    std::ofstream(options.token_file) << token << '\n';
    options.server = *http::parse_url("http://127.0.0.1:" + std::to_string(port_));
    options.cluster = cluster;
    options.machine = "bench";
    options.version = "0";
    options.database_path = agent_database;
    return options;
  }

  // The seconds that its processors worked, from its start to its end, which this is.
  double stop() {
    const double before_s = processor_s(RUSAGE_CHILDREN);
    server_->stop(SIGTERM);
    return processor_s(RUSAGE_CHILDREN) - before_s;
  }

  storage::Reader::Totals totals() const { return storage::Reader(database_).totals(); }

 private:
  const TemporaryFolder& folder_;
  std::string database_;
  int port_ = 0;
  std::unique_ptr<cli::DaemonProcess> server_;
};

// The seconds until the server has everything of an agent's database.
inline double push_all(const push::PushOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  push::PushAgent agent(options);
  agent.start();
  while (!agent.status().is_level) {
    if (const auto status = agent.status(); !status.trouble.empty()) give_up(status.trouble);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double wall_s = seconds_since(began);
  agent.stop();
  return wall_s;
}

}  // namespace llmb::bench
