// Which agents a server lists, and who may take over the logs of one that it has forgotten.
#include <gmock/gmock.h>

#include "storage/push_store.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::ElementsAre;

std::vector<std::string> ids_of(const std::vector<PushAgentRecord>& agents) {
  std::vector<std::string> ids;
  for (const PushAgentRecord& agent : agents) ids.push_back(agent.store_id);
  return ids;
}

class PushAgents : public testing::Test {
 protected:
  void record(const std::string& store_id, const std::string& seen_at, std::int64_t pending) {
    writer_.record_push_agent({store_id, "eos", "login1", "1.2", seen_at, pending, {}});
  }
  // What comes of `agent` telling its one log, with that many steps.
  PushVerdict tell(const TemporaryDatabase& agent, int steps) {
    Writer writer(OpenOptions{agent.path(), true});
    const auto batch = make_batch(writer.upsert_root("/lustre/w", "eos"), "log", steps);
    const RunId run = writer.commit({&batch, 1}).front();
    PushStore store(agent.path());
    LogTelling log = *store.tell(run, 1'000);
    const PushSender sender{store.store_id(), "eos", now_};
    const PushResult result = writer_.commit_pushed(sender, {log}).front();
    record(store.store_id(), parser::instant_text(now_), 0);
    return result.verdict;
  }

  const parser::Instant now_ = *parser::parse_instant("2026-03-01T00:00:00Z");
  TemporaryDatabase central_;
  Writer writer_{OpenOptions{central_.path(), true}};
  Reader reader_{central_.path()};
};

TEST_F(PushAgents, ThatAreSilentForAMonthAreListedOnlyIfTheyLackSomething) {
  record("behind", "2025-01-01T00:00:00.000000Z", 1);
  record("level", "2026-01-29T23:59:59.999999Z", 0);
  record("recent", "2026-01-30T00:00:00.000000Z", 0);
  EXPECT_THAT(ids_of(reader_.listed_push_agents(now_)), ElementsAre("behind", "recent"));
  EXPECT_THAT(ids_of(reader_.push_agents()), ElementsAre("behind", "level", "recent"))
      << "what they pushed before is still known as theirs";
}

TEST_F(PushAgents, AreForgottenAsOftenAsTheySaySo) {
  record("a", "2026-02-28T00:00:00.000000Z", 0);
  record("b", "2026-02-28T00:00:00.000000Z", 0);
  for (int i = 0; i < 2; ++i) {
    writer_.forget_push_agent("a");
    EXPECT_THAT(ids_of(reader_.push_agents()), ElementsAre("b"));
  }
}

TEST_F(PushAgents, ThatAreForgottenAreTakenOverAtOnceAndKeepTheirRuns) {
  const TemporaryDatabase task;
  const TemporaryDatabase follower;
  EXPECT_EQ(tell(task, 10), PushVerdict::taken);
  EXPECT_EQ(tell(follower, 10), PushVerdict::covered);
  EXPECT_EQ(tell(follower, 20), PushVerdict::deferred) << "the other one told it just now";
  writer_.forget_push_agent(PushStore(task.path()).store_id());
  EXPECT_EQ(reader_.totals().steps, 10);
  EXPECT_EQ(tell(follower, 20), PushVerdict::taken);
  EXPECT_EQ(reader_.totals().runs, 1);
  EXPECT_EQ(reader_.totals().steps, 20);
}

}  // namespace
}  // namespace llmb::storage
