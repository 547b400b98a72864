// Connections that break, and programs that are killed, at any byte of what an agent and its server
// say to each other: nothing is lost, and nothing is there twice. Places are chosen by a seed. More
// of both than in a usual run, about a second each:
//   LLMB_PUSH_KILLS=300 serve_tests --gtest_filter='PushCuts.*:KilledPrograms.*'
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "parser/foundation/parse_number.h"
#include "server/sample/log_lines.h"
#include "storage/push_store.h"
#include "tests/server/serve/cutting_proxy.h"
#include "tests/server/serve/push_agent_fixture.h"
#include "tests/storage/same_logs.h"
#include "tests/storage/stored_values.h"

namespace llmb::cli {
namespace {

constexpr unsigned kSeed = 20261123;
constexpr std::chrono::seconds kTimeEach{15};  // one of them, on a machine with much other work

// As many as the environment says, but no fewer than in a usual run.
int count_of_at_least(int usual) {
  const char* const given = std::getenv("LLMB_PUSH_KILLS");
  if (given == nullptr) return usual;
  const auto count = parser::parse_integer(given);
  EXPECT_TRUE(count && *count > 0 && *count <= 100'000) << "LLMB_PUSH_KILLS=" << given;
  return count ? std::max(usual, static_cast<int>(*count)) : usual;
}

// Of all of them together.
std::chrono::steady_clock::time_point end_of_time(int count) {
  return std::chrono::steady_clock::now() + count * kTimeEach;
}

using PushCuts = PushAgentTest;

bool has_nothing_pending(const std::string& agent_database) {
  return wait_until([&] { return storage::PushStore(agent_database).pending_count() == 0; });
}

// Logs that grow, and now and then are read anew with fewer steps.
class ChangingLogs {
 public:
  explicit ChangingLogs(const std::string& database) : writer_({database, true}) {
    root_ = writer_.upsert_root("/lustre/w", "eos");
    counts_ = {10, 2'500, 0};  // one is told in pieces
    for (std::size_t i = 0; i < counts_.size(); ++i) commit(i, 0);
  }

  void change(std::mt19937& random) {
    const std::size_t i = random() % counts_.size();
    const bool is_anew = random() % 8 == 0;
    const int before = is_anew ? 0 : counts_[i];
    counts_[i] = before + 1 + static_cast<int>(random() % (is_anew ? 2'500 : 40));
    commit(i, before);
  }

 private:
  // The steps from `first` on are new; of a log that is read anew all are.
  void commit(std::size_t i, int first) {
    auto batch = storage::make_batch(root_, "log-" + std::to_string(i), counts_[i]);
    batch.cursor.head_hash = i;
    batch.replaces_all_samples = first == 0;
    batch.samples.erase(batch.samples.begin(), batch.samples.begin() + first);
    writer_.commit({&batch, 1});
  }

  storage::Writer writer_;
  storage::RootId root_ = 0;
  std::vector<int> counts_;
};

TEST_F(PushCuts, OfTheConnectionLoseAndDoubleNothing) {
  std::mt19937 random(kSeed);
  ChangingLogs logs(agent_database());
  CuttingProxy proxy(port_);
  push::PushAgent agent(options(agent_database(), proxy.port()));
  agent.start();
  const int cuts = count_of_at_least(40);
  const auto end = end_of_time(cuts);
  for (int cut = 0; cut < cuts; ++cut) {
    SCOPED_TRACE(cut);
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    proxy.cut_after(1 + random() % (cut % 3 == 0 ? 30'000 : 1'500));
    ASSERT_TRUE(wait_until([&] {
      if (agent.status().is_level) logs.change(random);  // else it has something to say
      return proxy.has_cut();
    })) << agent.status().trouble;
  }
  EXPECT_TRUE(has_nothing_pending(agent_database())) << agent.status().trouble;
  agent.stop();
  storage::expect_same_logs(central(), agent_database());
}

// The programs as users start them, on a tree whose logs grow.
class KilledPrograms : public PushAgentTest {
 protected:
  KilledPrograms() {
    DaemonProcess command(folder_.path(),
                          {"create", "eos-agent", "--scope", "ingest", "--for-cluster", "eos",
                           "--db", central(), "--allow-network-file-system"},
                          {}, "token");
    EXPECT_EQ(command.exit_code(), 0) << command.errors();
    std::ofstream(token_file_) << command.output();
  }

  std::unique_ptr<DaemonProcess> ingest(const std::string& mode, const std::string& database,
                                        int port) const {
    std::vector<std::string> arguments = {mode, "--db", database, "--allow-network-file-system"};
    if (port != 0) {
      arguments.insert(arguments.end(), {"--push", "http://127.0.0.1:" + std::to_string(port),
                                         "--token-file", token_file_, "--cluster", "eos"});
    }
    arguments.push_back(tree_);
    return std::make_unique<DaemonProcess>(folder_.path(), arguments, DaemonProcess::Environment{},
                                           "ingest");
  }

  // A step more in each log; in the middle the first one begins again, as after a restart.
  void grow_logs(int step) const {
    for (int i = 0; i < kLogs; ++i) {
      sample::StepFigures figures;
      figures.index = i == 0 && step > kills_ ? step - kills_ / 2 : step;
      figures.step_count = 500 + 4 * kills_;
      figures.step_time_s = 5 + 0.01 * (step % 17);
      figures.tflops_per_gpu = 700 + i;
      figures.loss = 11 - 0.01 * step;
      figures.global_batch_size = 256;
      const std::string folder = tree_ + "/experiments/pretrain_" + std::to_string(i);
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/log-a.pretrain_" + std::to_string(i) + "_7_0.out", std::ios::app)
          << sample::nemo_line(figures);
    }
  }

  static constexpr int kLogs = 4;
  const int kills_ = count_of_at_least(16);  // each takes an agent's second
  const std::string tree_ = folder_.file("tree");
};

TEST_F(KilledPrograms, LoseAndDoubleNothing) {
  std::mt19937 random(kSeed);
  CuttingProxy proxy(port_);
  int step = 0;
  const auto grow = [&] {
    for (int i = 0; i < 3; ++i) grow_logs(step++);
  };
  grow();
  auto agent = ingest("--follow", agent_database(), proxy.port());
  const auto end = end_of_time(kills_);
  for (int kill = 0; kill < kills_; ++kill) {
    SCOPED_TRACE(kill);
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    const bool kills_server = random() % 3 == 0;
    proxy.cut_after(1 + random() % 1'500, [&] { (kills_server ? server_ : agent)->stop(SIGKILL); });
    grow();
    ASSERT_TRUE(wait_until([&] { return proxy.has_cut(); })) << agent->errors();
    if (kills_server) {
      server_.reset();
      start_server();
    } else {
      agent = ingest("--follow", agent_database(), proxy.port());
    }
    ASSERT_FALSE(HasFailure());
  }
  grow();
  agent->stop(SIGKILL);
  const auto last = ingest("--once", agent_database(), port_);
  EXPECT_EQ(last->exit_code(), 0) << last->errors();
  EXPECT_THAT(last->errors(), testing::HasSubstr("the server has all"));
  storage::expect_same_values(central(), agent_database());

  const std::string fresh = folder_.file("fresh.db");
  EXPECT_EQ(ingest("--once", fresh, 0)->exit_code(), 0);
  storage::expect_same_logs(central(), fresh);
  EXPECT_EQ(stored().steps, std::int64_t{kLogs} * step);
}

}  // namespace
}  // namespace llmb::cli
