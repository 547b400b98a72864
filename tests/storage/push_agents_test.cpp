// Which agents a server lists, and who may take over the logs of one that it has forgotten.
#include <gmock/gmock.h>

#include "storage/push_store.h"
#include "tests/storage/temporary_database.h"
#include "tests/temporary_folder.h"

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
  // A file, whatever the server's database is.
  std::string agent_database(const std::string& name) const { return folder_.file(name + ".db"); }
  // What comes of `agent` telling its one log, with that many steps.
  PushVerdict tell(const std::string& agent, int steps) {
    Writer writer(OpenOptions{agent, true});
    const auto batch = make_batch(writer.upsert_root("/lustre/w", "eos"), "log", steps);
    const RunId run = writer.commit({&batch, 1}).front();
    PushStore store(agent);
    const auto say = [&] {
      const LogTelling log = *store.tell(run, 1'000);
      const PushSender sender{store.store_id(), "eos", now_};
      const PushResult result = writer_.commit_pushed(sender, {log}).front();
      store.keep_answers(
          std::vector<PushStore::Answer>{{run, log.run.revision, log.end(), result}});
      return result.verdict;
    };
    PushVerdict verdict = say();
    if (verdict == PushVerdict::conflict) verdict = say();  // all of it
    record(store.store_id(), parser::instant_text(now_), 0);
    return verdict;
  }

  std::vector<std::int64_t> held_revisions(const std::string& agent) {
    std::vector<std::int64_t> revisions;
    for (const HeldLog& log : reader_.held_logs(PushStore(agent).store_id(), "eos", 0, 9)) {
      revisions.push_back(log.revision);
    }
    return revisions;
  }
  static std::int64_t own_revision(const std::string& agent) {
    return Reader(agent).run(1)->revision;
  }
  // What `agent` would tell a server that was started anew.
  std::int64_t pending_after_comparison(const std::string& agent) {
    PushStore store(agent);
    store.begin_comparison();
    store.compare(reader_.held_logs(store.store_id(), "eos", 0, 9));
    store.end_comparison();
    return store.pending_count();
  }

  const parser::Instant now_ = *parser::parse_instant("2026-03-01T00:00:00Z");
  const TemporaryFolder folder_;
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
  const std::string task = agent_database("task");
  const std::string follower = agent_database("follower");
  EXPECT_EQ(tell(task, 10), PushVerdict::taken);
  EXPECT_EQ(tell(follower, 10), PushVerdict::covered);
  EXPECT_EQ(tell(follower, 20), PushVerdict::deferred) << "the other one told it just now";
  writer_.forget_push_agent(PushStore(task).store_id());
  EXPECT_EQ(reader_.totals().steps, 10);
  EXPECT_EQ(tell(follower, 20), PushVerdict::taken);
  EXPECT_EQ(reader_.totals().runs, 1);
  EXPECT_EQ(reader_.totals().steps, 20);
}

TEST_F(PushAgents, OfALogThatAnotherToldAreHeldToHaveToldItToo) {
  const std::string first = agent_database("first");
  const std::string second = agent_database("second");
  tell(first, 10);
  EXPECT_EQ(tell(second, 10), PushVerdict::covered);
  EXPECT_THAT(held_revisions(second), ElementsAre(own_revision(second)));
  EXPECT_EQ(pending_after_comparison(second), 0) << "nothing is told again";
  EXPECT_EQ(tell(first, 20), PushVerdict::taken);
  EXPECT_EQ(pending_after_comparison(second), 0) << "it has read no more of it";
  EXPECT_EQ(tell(second, 20), PushVerdict::covered);
  EXPECT_THAT(held_revisions(second), ElementsAre(own_revision(second)));
  EXPECT_EQ(pending_after_comparison(second), 0);
}

TEST_F(PushAgents, ThatTakeALogOverAreHeldToHaveToldItOnce) {
  const std::string first = agent_database("first");
  const std::string second = agent_database("second");
  tell(first, 10);
  tell(second, 10);
  writer_.forget_push_agent(PushStore(first).store_id());
  EXPECT_EQ(tell(second, 20), PushVerdict::taken);
  EXPECT_THAT(held_revisions(second), ElementsAre(own_revision(second)));
  EXPECT_EQ(pending_after_comparison(second), 0);
  EXPECT_THAT(held_revisions(first), ElementsAre());
  EXPECT_EQ(tell(first, 20), PushVerdict::covered);
  EXPECT_THAT(held_revisions(first), ElementsAre(own_revision(first)));
  writer_.forget_push_agent(PushStore(first).store_id());
  EXPECT_THAT(held_revisions(first), ElementsAre()) << "it says no more";
  EXPECT_EQ(reader_.totals().runs, 1);
}

}  // namespace
}  // namespace llmb::storage
