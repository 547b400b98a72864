// The text of logs on its way from an agent to the real server program: what is kept is what was
// read, whatever is cut, put back or rewritten meanwhile.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>

#include "server/push/log_text_request.h"
#include "tests/server/serve/cutting_proxy.h"
#include "tests/server/serve/push_agent_fixture.h"

namespace llmb::cli {
namespace {

// The logs of a login node, as its agent reads them.
class Logs {
 public:
  void set(const std::string& name, std::size_t size) {
    std::mt19937 random(static_cast<std::uint32_t>(std::hash<std::string>()(name)));
    std::string text;
    while (text.size() < size) text += "step time " + std::to_string(random()) + "\n";
    text.resize(size);
    const std::lock_guard lock(mutex_);
    texts_[name] = std::move(text);
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    texts_.erase(name);
  }
  std::map<std::string, std::string> all() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  push::ReadLogText reading() const {
    return [this](const storage::PushStore::LogText& log, std::uint64_t begin,
                  std::uint64_t size) -> parser::Result<std::string> {
      const std::lock_guard lock(mutex_);
      const auto found = texts_.find(log.relative_path);
      if (found == texts_.end()) return parser::fail("it is gone");
      return found->second.substr(begin, size);
    };
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> texts_;
};

class PushText : public PushAgentTest {
 protected:
  // Logs as they are now, each with a step more than the last time.
  void commit_logs() {
    ++steps_;
    commit_logs(agent_database());
  }
  void commit_logs(const std::string& database) const {
    storage::Writer writer({database, true});
    const storage::RootId root = writer.upsert_root("/lustre/w", "eos");
    std::vector<storage::IngestBatch> batches;
    for (const auto& [name, text] : logs_.all()) {
      batches.push_back(storage::make_batch(root, name, steps_));
      batches.back().facts.bytes_read = text.size();
      // set() cuts lines: few logs end with a whole one.
      batches.back().cursor.offset = text.rfind('\n') + 1;
      batches.back().cursor.head_hash = std::hash<std::string>()(name);
      batches.back().size_bytes = text.size();
    }
    writer.commit(batches);
  }
  // An agent beside that one, over a database of its own, which sends text.
  push::PushStatus push_from(const std::string& database) const {
    push::PushOptions options = with_text(port_);
    options.database_path = database;
    push::PushAgent agent(options);
    agent.start();
    EXPECT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
    return agent.status();
  }
  push::PushOptions with_text(int port) const {
    push::PushOptions options = this->options(agent_database(), port);
    options.read_text = logs_.reading();
    options.text_rest = std::chrono::milliseconds(50);
    return options;
  }
  std::map<std::string, std::string> kept() const {
    storage::Reader reader(central());
    std::map<std::string, std::string> texts;
    for (const auto& log :
         reader.held_logs(storage::PushStore(agent_database()).store_id(), "eos", 0, 1'000)) {
      std::string& text = texts[log.relative_path];
      for (const auto& block : reader.log_blocks(log.run, 0, log.text_bytes)) {
        EXPECT_EQ(block.first_byte, text.size()) << log.relative_path;
        text += push::unpacked_block(block).value_or("damaged");
      }
    }
    return texts;
  }
  bool is_level(const push::PushAgent& agent) const {
    return wait_until([&] { return agent.status().is_level && kept() == logs_.all(); });
  }

  Logs logs_;
  int steps_ = 0;
};

TEST_F(PushText, IsThatOfTheLogsAlsoWhereTheyGrow) {
  const std::vector<std::pair<std::string, std::size_t>> sizes = {
      {"a", 10}, {"b", storage::kLogBlockBytes}, {"c", 3'000'001}, {"d", 600'000}};
  for (const auto& [name, size] : sizes) logs_.set(name, size);
  commit_logs();
  push::PushAgent agent(with_text(port_));
  agent.start();
  ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  EXPECT_EQ(agents().at(0).logs_pending, 0);
  for (const auto& [name, size] : sizes) logs_.set(name, size + 100'000);
  logs_.set("e", 20'000);
  commit_logs();
  EXPECT_TRUE(is_level(agent)) << agent.status().trouble;
}

// It may say why the job died.
TEST_F(PushText, HoldsALastLineThatNobodyEnded) {
  const auto set_unended = [&](std::size_t size) {
    logs_.set("a", size);
    if (logs_.all()["a"].ends_with('\n')) logs_.set("a", size + 1);
    commit_logs();
  };
  set_unended(1'000);
  push::PushAgent agent(with_text(port_));
  agent.start();
  ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  set_unended(1'005);
  EXPECT_TRUE(is_level(agent)) << agent.status().trouble;
}

TEST_F(PushText, OfLogsThatWerePushedBeforeComesAfterwards) {
  logs_.set("a", 1'000);
  commit_logs();
  {
    push::PushAgent agent(options(agent_database()));
    agent.start();
    ASSERT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
  }
  EXPECT_EQ(kept()["a"], "");
  push::PushAgent agent(with_text(port_));
  agent.start();
  EXPECT_TRUE(is_level(agent)) << agent.status().trouble;
}

TEST_F(PushText, OfALogThatCannotBeReadIsSentOnceItChanges) {
  logs_.set("a", 1'000);
  logs_.set("b", 2'000);
  commit_logs();
  logs_.remove("a");
  push::PushAgent agent(with_text(port_));
  agent.start();
  ASSERT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
  EXPECT_EQ(kept()["a"], "");
  EXPECT_EQ(kept()["b"].size(), 2'000U);
  logs_.set("a", 3'000);
  commit_logs();
  EXPECT_TRUE(is_level(agent)) << agent.status().trouble;
}

TEST_F(PushText, OfALogThatWasRemovedComesAgainOnceItGrows) {
  logs_.set("a", 400'000);
  logs_.set("b", 10'000);
  commit_logs();
  push::PushAgent agent(with_text(port_));
  agent.start();
  ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  kill_server();
  remove_everything();
  start_server();
  logs_.remove("b");
  logs_.set("a", 700'000);
  commit_logs();
  EXPECT_TRUE(wait_until([&] { return kept()["a"] == logs_.all()["a"]; }));
  EXPECT_EQ(kept()["b"], "");
  EXPECT_EQ(stored().runs, 1);
}

TEST_F(PushText, IsSentAgainToAServerThatWasPutBack) {
  logs_.set("a", 400'000);
  commit_logs();
  push::PushAgent agent(with_text(port_));
  agent.start();
  ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  EXPECT_EQ(server_->stop(SIGTERM), 0);
  std::filesystem::copy_file(central(), central() + ".backup");
  start_server();
  logs_.set("a", 900'000);
  logs_.set("b", 10'000);
  commit_logs();
  ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  EXPECT_EQ(server_->stop(SIGTERM), 0);
  std::filesystem::copy_file(central() + ".backup", central(),
                             std::filesystem::copy_options::overwrite_existing);
  start_server();
  logs_.set("c", 100);  // something to say, by which it learns of the other server
  commit_logs();
  EXPECT_TRUE(is_level(agent)) << agent.status().trouble;
}

TEST_F(PushText, IsWholeWhereverTheConnectionIsCut) {
  CuttingProxy proxy(port_);
  std::mt19937 random(11);  // NOLINT: the same cuts in every test run, on purpose
  push::PushOptions options = with_text(proxy.port());
  options.leaves_when_level = true;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    for (const char* const name : {"a", "b", "c"}) {
      logs_.set(name, static_cast<std::size_t>(round + 1) * 90'000 + random() % 1'000);
    }
    commit_logs();
    proxy.cut_after(random() % 60'000);
    push::PushAgent agent(options);
    agent.start();
    ASSERT_TRUE(is_level(agent)) << agent.status().trouble;
  }
}

TEST_F(PushText, ComesFromAnotherAgentWhereThatReadTheSame) {
  logs_.set("a", 300'000);
  logs_.set("b", 1'000);
  commit_logs();
  {
    push::PushAgent agent(options(agent_database()));
    agent.start();
    ASSERT_TRUE(wait_until([&] { return agent.status().is_level; })) << agent.status().trouble;
  }
  const std::string second = folder_.file("second.db");
  commit_logs(second);
  EXPECT_EQ(push_from(second).logs_answered, 2U);
  EXPECT_EQ(kept(), logs_.all());
  EXPECT_EQ(push_from(second).logs_answered, 0U) << "the server holds it to have told them";
  EXPECT_EQ(stored().runs, 2);
  logs_.set("b", 900);
  const std::string third = folder_.file("third.db");
  commit_logs(third);
  EXPECT_EQ(push_from(third).texts_untaken, 1U);
  EXPECT_EQ(kept()["b"].size(), 1'000U);
}

}  // namespace
}  // namespace llmb::cli
