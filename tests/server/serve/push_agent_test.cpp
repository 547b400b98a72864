// An agent's loop against the real server program, over sockets of the loopback: each has a
// database of its own. What the server makes of each telling is in tests/server/api/push_test.cpp.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "server/http/bearer_token.h"
#include "server/push/push_agent.h"
#include "storage/job_store.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/storage/temporary_database.h"

namespace llmb::cli {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class PushAgentTest : public testing::Test {
 protected:
  PushAgentTest() {
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

  push::PushOptions options(const std::string& database) const {
    push::PushOptions options;
    options.server = *http::parse_url("http://127.0.0.1:" + std::to_string(port_));
    options.token_file = token_file_;
    options.cluster = "eos";
    options.machine = "login1";
    options.version = "1.2.3";
    options.database_path = database;
    options.look_interval = options.retry_first = milliseconds(20);
    options.retry_longest = options.forbidden_rest = milliseconds(100);
    return options;
  }

  // A database of an agent with `count` logs of `steps` steps each.
  void commit(const std::string& database, int count, int steps) {
    storage::Writer writer({database, true});
    const storage::RootId root = writer.upsert_root("/lustre/w", "eos");
    std::vector<storage::IngestBatch> batches;
    for (int i = 0; i < count; ++i) {
      batches.push_back(storage::make_batch(root, "log-" + std::to_string(i), steps));
      batches.back().cursor.head_hash = static_cast<std::uint64_t>(i);
    }
    writer.commit(batches);
  }

  storage::Reader::Totals stored() const { return storage::Reader(central()).totals(); }
  bool has_all(int runs, int steps) const {
    return wait_until([&] {
      const auto totals = stored();
      return totals.runs == runs && totals.steps == std::int64_t{runs} * steps;
    });
  }

  std::string central() const { return folder_.file("central.db"); }
  std::string agent_database() const { return folder_.file("agent.db"); }

  TemporaryFolder folder_;
  const std::string token_file_ = folder_.file("token");
  int port_ = 0;
  std::unique_ptr<DaemonProcess> server_;
};

TEST_F(PushAgentTest, SendsEverythingOnceWhereverItIsStopped) {
  commit(agent_database(), 150, 10);
  for (int i = 0; i < 10; ++i) {
    push::PushAgent agent(options(agent_database()));
    agent.start();
    wait_until([&] { return agent.status().logs_answered > 0 || agent.status().is_level; });
  }
  push::PushAgent agent(options(agent_database()));
  agent.start();
  ASSERT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
  EXPECT_TRUE(has_all(150, 10));
  EXPECT_THAT(server_->get("/api/v1/roots").body, HasSubstr("\"logs_pending\":0"));
}

TEST_F(PushAgentTest, GoesOnWhenTheServerIsBack) {
  commit(agent_database(), 5, 10);
  push::PushAgent agent(options(agent_database()));
  agent.start();
  ASSERT_TRUE(has_all(5, 10));
  kill_server();
  commit(agent_database(), 5, 30);
  ASSERT_TRUE(wait_until([&] { return !agent.status().trouble.empty(); }));
  EXPECT_THAT(agent.status().trouble, HasSubstr("cannot ask 127.0.0.1"));
  start_server();
  EXPECT_TRUE(has_all(5, 30));
  EXPECT_TRUE(wait_until([&] { return agent.status().is_level; }));
}

TEST_F(PushAgentTest, NoticesAServerThatWasPutBack) {
  commit(agent_database(), 5, 10);
  push::PushAgent agent(options(agent_database()));
  agent.start();
  ASSERT_TRUE(has_all(5, 10));
  EXPECT_EQ(server_->stop(SIGTERM), 0);
  std::filesystem::copy_file(central(), central() + ".backup");
  start_server();
  commit(agent_database(), 8, 20);
  ASSERT_TRUE(has_all(8, 20));
  EXPECT_EQ(server_->stop(SIGTERM), 0);
  std::filesystem::copy_file(central() + ".backup", central(),
                             std::filesystem::copy_options::overwrite_existing);
  start_server();
  commit(agent_database(), 8, 21);  // something to say, by which it learns of the other server
  EXPECT_TRUE(has_all(8, 21));
}

TEST_F(PushAgentTest, TakesATokenThatWasExchanged) {
  storage::JobStore({central(), true}).revoke_token("first", "2025-01-02T00:00:00Z");
  commit(agent_database(), 2, 10);
  push::PushAgent agent(options(agent_database()));
  agent.start();
  ASSERT_TRUE(wait_until([&] { return !agent.status().trouble.empty(); }));
  EXPECT_THAT(agent.status().trouble, HasSubstr("401"));
  write_token("second");
  EXPECT_TRUE(has_all(2, 10));
}

TEST_F(PushAgentTest, TwoOnOneTreeStoreEachRunOnce) {
  const std::string other = folder_.file("other.db");
  commit(agent_database(), 20, 10);
  commit(other, 20, 10);
  push::PushAgent first(options(agent_database()));
  push::PushAgent second(options(other));
  first.start();
  second.start();
  ASSERT_TRUE(wait_until([&] { return first.status().is_level && second.status().is_level; }))
      << first.status().trouble << second.status().trouble;
  EXPECT_TRUE(has_all(20, 10));
}

}  // namespace
}  // namespace llmb::cli
