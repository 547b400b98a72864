// A central server, the real program, and what an agent needs to push to it by the name of `eos`.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/http/bearer_token.h"
#include "server/push/push_agent.h"
#include "storage/database.h"
#include "storage/job_store.h"
#include "storage/removal.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/storage/temporary_database.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {

class PushAgentTest : public testing::Test {
 protected:
  // `central`: the server's database; empty: a file.
  explicit PushAgentTest(std::string central = {}) : central_(std::move(central)) {
    start_server();
    write_token("first");
  }

  void start_server() {
    server_ = std::make_unique<DaemonProcess>(
        folder_.path(), std::vector<std::string>{"--receive", "--db", central(), "--listen",
                                                 "127.0.0.1:" + std::to_string(port_),
                                                 "--allow-network-file-system"});
    port_ = server_->port();
    ASSERT_NE(port_, 0) << server_->errors();
  }
  void kill_server() {
    server_->stop(SIGKILL);
    server_.reset();
  }

  void write_token(const std::string& name) {
    const std::string token = http::new_token();
    storage::TokenRecord record;
    record.name = name;
    record.sha256 = http::token_sha256(token);
    record.scopes = {"ingest"};
    record.cluster = "eos";
    record.created_at = "2025-01-01T00:00:00Z";
    record.expires_at = "2999-01-01T00:00:00Z";
    storage::JobStore({central(), true}).insert_token(record);
    std::ofstream(token_file_) << token << '\n';
  }

  push::PushOptions options(const std::string& database) const { return options(database, port_); }
  push::PushOptions options(const std::string& database, int port) const {
    push::PushOptions options;
    options.server = *http::parse_url("http://127.0.0.1:" + std::to_string(port));
    options.token_file = token_file_;
    options.cluster = "eos";
    options.machine = "login1";
    options.version = "1.2.3";
    options.database_path = database;
    options.look_interval = options.retry_first = std::chrono::milliseconds(20);
    options.retry_longest = options.forbidden_rest = std::chrono::milliseconds(100);
    return options;
  }

  // A database of an agent with `count` logs of `steps` steps each.
  void commit(const std::string& database, int count, int steps,
              const std::string& tree = "/lustre/w") {
    storage::Writer writer({database, true});
    const storage::RootId root = writer.upsert_root(tree, "eos");
    std::vector<storage::IngestBatch> batches;
    for (int i = 0; i < count; ++i) {
      batches.push_back(storage::make_batch(root, "log-" + std::to_string(i), steps));
      batches.back().cursor.head_hash = static_cast<std::uint64_t>(i);
    }
    writer.commit(batches);
  }

  // While the server is stopped. make_batch()'s logs grew long ago.
  void remove_everything() const {
    storage::RetentionPolicy policy;
    policy.words = "cluster eos";
    policy.cluster = "eos";
    const auto now = *parser::parse_instant("2026-06-01T00:00:00Z");
    storage::Writer writer({central(), true});
    storage::Removal removal(storage::Reader(central()).removal_plan(policy, now));
    for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
      EXPECT_GT(writer.remove_logs(policy, logs, now).runs, 0);
    }
    EXPECT_EQ(stored().runs, 0);
  }

  storage::Reader::Totals stored() const { return storage::Reader(central()).totals(); }
  std::vector<storage::PushAgentRecord> agents() const {
    return storage::Reader(central()).push_agents();
  }
  bool has_all(int runs, int steps) const {
    return wait_until([&] {
      const auto totals = stored();
      return totals.runs == runs && totals.steps == std::int64_t{runs} * steps;
    });
  }

  std::string central() const { return central_.empty() ? folder_.file("central.db") : central_; }
  std::string agent_database() const { return folder_.file("agent.db"); }

  const std::string central_;
  TemporaryFolder folder_;
  const std::string token_file_ = folder_.file("token");
  int port_ = 0;
  std::unique_ptr<DaemonProcess> server_;
};

}  // namespace llmb::cli
