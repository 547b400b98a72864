// What a server that writes nothing hears of another's changes. Where it would have to ask, it
// waits for an hour: then what is told was heard.
#include "server/api/database_watch.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>

#include "tests/storage/temporary_database.h"

namespace llmb::api {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPatience{60};

class DatabaseWatches : public testing::Test {
 protected:
  DatabaseWatches() {
    subscription_ = events_.subscribe([this] {
      const std::lock_guard lock(mutex_);
      has_event_ = true;
      came_.notify_all();
    });
  }
  ~DatabaseWatches() override { events_.unsubscribe(subscription_); }

  void change_a_run() {
    const storage::IngestBatch batch = storage::make_batch(root_, std::to_string(++runs_) + ".out");
    writer_.commit({&batch, 1});
  }

  // Whether the change is told of, with as many others as there were before it.
  bool is_told() {
    std::unique_lock lock(mutex_);
    const bool came = came_.wait_for(lock, kPatience, [this] { return has_event_; });
    has_event_ = false;
    return came;
  }

  const storage::TemporaryDatabase database_;
  storage::Writer writer_{database_.options()};
  const storage::RootId root_ = writer_.upsert_root("/logs", "");
  int runs_ = 0;
  http::EventChannel events_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool has_event_ = false;
  std::uint64_t subscription_ = 0;
};

class DatabaseWatchesOfServers : public DatabaseWatches {
 protected:
  void SetUp() override {
    if (std::getenv("LLMB_TEST_POSTGRESQL") == nullptr) {
      GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
    }
  }

  // The first change may be found by the question that follows on listening; no later one is asked
  // for within the hour.
  void expect_changes_to_be_heard() {
    for (int i = 0; i < 3; ++i) {
      change_a_run();
      ASSERT_TRUE(is_told()) << "change " << i;
    }
  }

  static void at_server(const std::string& what) {
    const std::string folder = std::getenv("LLMB_TEST_POSTGRESQL_FOLDER");
    const std::string flag = what == "up" ? " --no-install " : " ";
    const std::string command =
        LLMB_SOURCE_DIR "/deploy/postgres-dev/" + what + flag + folder + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  DatabaseWatch watch_{database_.path(), events_, {.unheard = 1h, .heard = 1h, .pause = 0ms}};
};

TEST_F(DatabaseWatches, AskWhereNothingIsHeard) {
  DatabaseWatch watch(database_.path(), events_, {.unheard = 10ms, .heard = 10ms, .pause = 0ms});
  watch.start();
  for (int i = 0; i < 3; ++i) {
    change_a_run();
    EXPECT_TRUE(is_told());
  }
  watch.stop();
  bool was_reset = false;
  for (const http::Event& event : events_.events_after(0, was_reset)) {
    EXPECT_EQ(event.name, "reset");
  }
}

TEST_F(DatabaseWatches, EndWhileTheyWait) {
  DatabaseWatch watch(database_.path(), events_, {.unheard = 1h, .heard = 1h, .pause = 1h});
  watch.start();
  watch.stop();
}

TEST_F(DatabaseWatchesOfServers, HearWhatNobodyAsksFor) {
  watch_.start();
  expect_changes_to_be_heard();
}

TEST_F(DatabaseWatchesOfServers, ListenAgainAfterTheirSessionWasEnded) {
  watch_.start();
  expect_changes_to_be_heard();
  storage::execute_sql_at_server(
      database_.path(),
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"
      " AND datname = current_database()");
  expect_changes_to_be_heard();
}

TEST_F(DatabaseWatchesOfServers, ListenAgainAfterTheServerWasRestarted) {
  watch_.start();
  expect_changes_to_be_heard();
  at_server("down");
  at_server("up");
  expect_changes_to_be_heard();
}

}  // namespace
}  // namespace llmb::api
