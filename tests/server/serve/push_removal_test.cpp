// Runs that were removed from a central server on purpose, and the agent that has them still.
#include "storage/database_place.h"
#include "tests/server/serve/push_agent_fixture.h"

namespace llmb::cli {
namespace {

class PushRemoval : public PushAgentTest {
 protected:
  void push_until_level() {
    push::PushAgent agent(options(agent_database()));
    agent.start();
    EXPECT_TRUE(wait_until([&] { return agent.status().is_level; }));
    agent.stop();
  }
};

TEST_F(PushRemoval, IsNotUndoneByAnAgentThatComparesOrSendsAll) {
  commit(agent_database(), 300, 4);
  push_until_level();
  ASSERT_TRUE(has_all(300, 4));
  kill_server();
  remove_everything();
  start_server();  // another instance: the agent compares
  push_until_level();
  EXPECT_EQ(stored().runs, 0);
  // An agent whose database was made anew has another name, and sends all.
  std::filesystem::remove(agent_database());
  commit(agent_database(), 300, 4);
  push_until_level();
  EXPECT_EQ(stored().runs, 0);
}

TEST_F(PushRemoval, IsOverForALogThatGrows) {
  commit(agent_database(), 3, 4);
  push_until_level();
  kill_server();
  remove_everything();
  start_server();
  push_until_level();
  {
    storage::Writer writer({agent_database(), true});
    storage::IngestBatch batch = storage::make_batch(1, "log-1", 6);
    batch.cursor.head_hash = 1;
    batch.samples.erase(batch.samples.begin(), batch.samples.begin() + 4);
    writer.commit({&batch, 1});
  }
  push_until_level();
  EXPECT_TRUE(has_all(1, 6)) << "it comes as a whole";
}

TEST_F(PushRemoval, IsUndoneByWhatTheAgentStillHas) {
  commit(agent_database(), 30, 4);
  push_until_level();
  ASSERT_TRUE(has_all(30, 4));
  push::PushAgent agent(options(agent_database()));
  agent.start();
  ASSERT_TRUE(wait_until([&] { return agent.status().is_level; }));
  kill_server();
  remove_everything();
  {
    storage::Writer writer({central(), true});
    const auto removed = storage::Reader(central()).undo_plan({}).removed;
    ASSERT_EQ(removed.size(), 30U);
    EXPECT_EQ(writer.let_in_again(removed), 30);
  }
  start_server();  // another instance: the agent, which was never stopped, compares
  EXPECT_TRUE(has_all(30, 4));
}

// Where several processes may write, the server need not be stopped.
struct CentralDatabase {
  const storage::TemporaryDatabase central_database_;
};

class PushUndone : private CentralDatabase, public PushAgentTest {
 protected:
  PushUndone() : PushAgentTest(central_database_.path()) {}
  void SetUp() override {
    if (!storage::admits_several_writers(central())) GTEST_SKIP() << "a file has one writer";
  }
};

TEST_F(PushUndone, IsHeardOfByAnAgentOfAServerThatGoesOn) {
  commit(agent_database(), 30, 4);
  push::PushOptions often = options(agent_database());
  often.heartbeat = std::chrono::milliseconds(100);
  push::PushAgent agent(often);
  agent.start();
  ASSERT_TRUE(has_all(30, 4));
  ASSERT_TRUE(wait_until([&] { return agent.status().is_level; }));
  remove_everything();
  const auto removed = storage::Reader(central()).undo_plan({}).removed;
  ASSERT_EQ(removed.size(), 30U);
  EXPECT_EQ(storage::Writer({central(), true}).let_in_again(removed), 30);
  EXPECT_TRUE(has_all(30, 4));
}

}  // namespace
}  // namespace llmb::cli
