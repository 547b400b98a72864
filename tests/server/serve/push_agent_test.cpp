// An agent's loop against the real server program, over sockets of the loopback: each has a
// database of its own. What the server makes of each telling is in tests/server/api/push_test.cpp.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/server/serve/cutting_proxy.h"
#include "tests/server/serve/push_agent_fixture.h"

namespace llmb::cli {
namespace {

using testing::HasSubstr;

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

// Each sends its next request while the last one is written, and for one the server has no room.
TEST_F(PushAgentTest, MoreAtOnceThanThereIsRoomForAreAllTaken) {
  constexpr int kLogs = 700;  // three requests
  std::vector<std::unique_ptr<push::PushAgent>> agents;
  for (const std::string name : {"a", "b", "c"}) {
    commit(folder_.file(name), kLogs, 2, "/lustre/" + name);
    agents.push_back(std::make_unique<push::PushAgent>(options(folder_.file(name))));
  }
  for (const auto& agent : agents) agent->start();
  for (const auto& agent : agents) {
    ASSERT_TRUE(wait_until([&] { return agent->status().is_level; })) << agent->status().trouble;
    EXPECT_EQ(agent->status().logs_answered, kLogs);
  }
  EXPECT_TRUE(has_all(3 * kLogs, 2));
}

TEST_F(PushAgentTest, LeavesWhereItsDatabaseGoes) {
  CuttingProxy proxy(port_);
  commit(agent_database(), 20, 10);
  push::PushOptions leaving = options(agent_database(), proxy.port());
  leaving.leaves_when_level = true;
  // The second time it says so again, as after an answer that was lost, and at any byte.
  for (const std::size_t bytes : {1'000'000U, 200U, 700U, 1'000U, 1'300U}) {
    SCOPED_TRACE(bytes);
    proxy.cut_after(bytes);
    push::PushAgent agent(leaving);
    agent.start();
    ASSERT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
    EXPECT_THAT(agents(), testing::IsEmpty());
  }
  EXPECT_TRUE(has_all(20, 10));
}

}  // namespace
}  // namespace llmb::cli
