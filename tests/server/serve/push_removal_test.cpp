// Runs that were removed from a central server on purpose, and the agent that has them still.
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

}  // namespace
}  // namespace llmb::cli
