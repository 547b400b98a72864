// What a server that writes nothing hears of another's changes. Where it would have to ask, it
// waits for an hour: then what is told was heard.
#include "server/api/database_watch.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "storage/job_store.h"
#include "tests/patience.h"
#include "tests/storage/temporary_database.h"

namespace llmb::api {
namespace {

using namespace std::chrono_literals;

class DatabaseWatches : public testing::Test {
 protected:
  DatabaseWatches() {
    subscription_ = events_.subscribe([this] {
      const std::lock_guard lock(mutex_);
      has_event_ = true;
      ++came_count_;
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
    const bool came = came_.wait_for(lock, kTestPatience, [this] { return has_event_; });
    has_event_ = false;
    return came;
  }

  // Whether that many events have come since take_told().
  bool come(std::size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, kTestPatience, [&] { return came_count_ >= taken_count_ + count; });
  }

  // What was told since the last call: "reset", or of a run its data.
  std::vector<std::string> take_told() {
    bool was_reset = false;
    std::vector<std::string> told;
    for (const http::Event& event : events_.events_after(taken_, was_reset)) {
      told.push_back(event.name == "run" ? event.data : event.name);
      taken_ = event.id;
    }
    const std::lock_guard lock(mutex_);
    taken_count_ = came_count_;
    return told;
  }

  const storage::TemporaryDatabase database_;
  storage::Writer writer_{database_.options()};
  const storage::RootId root_ = writer_.upsert_root("/logs", "");
  int runs_ = 0;
  http::EventChannel events_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool has_event_ = false;
  std::size_t came_count_ = 0;
  std::size_t taken_count_ = 0;
  std::uint64_t taken_ = events_.last_id();
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
  const bool may_hear = std::getenv("LLMB_TEST_POSTGRESQL") != nullptr;
  for (const std::string& told : take_told()) EXPECT_TRUE(may_hear || told == "reset") << told;
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

TEST_F(DatabaseWatchesOfServers, TellWhichRunsChanged) {
  watch_.start();
  expect_changes_to_be_heard();  // now it listens
  take_told();
  std::vector<storage::IngestBatch> batches = {storage::make_batch(root_, "1.out", 7),
                                               storage::make_batch(root_, "new.out")};
  writer_.commit(batches);
  ASSERT_TRUE(come(2));
  EXPECT_EQ(take_told(), (std::vector<std::string>{R"({"run_id":1,"kind":"grown"})",
                                                   R"({"run_id":4,"kind":"added"})"}));
}

TEST_F(DatabaseWatchesOfServers, TellToLoadAnewWhereAnythingChanged) {
  watch_.start();
  expect_changes_to_be_heard();
  take_told();
  writer_.upsert_root("/logs", "eos");
  ASSERT_TRUE(is_told());
  EXPECT_EQ(take_told(), std::vector<std::string>{"reset"});
  change_a_run();
  ASSERT_TRUE(is_told());
  EXPECT_EQ(take_told(), std::vector<std::string>{R"({"run_id":4,"kind":"added"})"});
}

TEST_F(DatabaseWatchesOfServers, TellWhichJobChanged) {
  storage::JobStore store(database_.options());
  std::vector<storage::JobRowId> jobs;
  watch_.on_job([&](storage::JobRowId job) {
    const std::lock_guard lock(mutex_);
    jobs.push_back(job);
    has_event_ = true;
    came_.notify_all();
  });
  watch_.start();
  expect_changes_to_be_heard();
  storage::JobRecord job;
  job.submission_id = "s1";
  job.created_at = job.updated_at = "2026-01-02T03:04:05Z";
  job.id = store.insert(job);
  ASSERT_TRUE(is_told());
  job.revision = 1;
  job.job_id = 4711;
  ASSERT_TRUE(store.update(job));
  ASSERT_TRUE(is_told());
  EXPECT_FALSE(store.update(job)) << "nobody hears of what did not change";
  change_a_run();
  ASSERT_TRUE(is_told());
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(jobs, (std::vector<storage::JobRowId>{job.id, job.id}));
}

// A question finds what is on its way, too.
TEST_F(DatabaseWatchesOfServers, TellOfAChangeOnce) {
  DatabaseWatch watch(database_.path(), events_,
                      {.unheard = 1ms, .heard = 1ms, .pause = 0ms, .on_its_way = kTestPatience});
  watch.start();
  expect_changes_to_be_heard();
  take_told();
  std::vector<std::string> wanted;
  for (int i = 0; i < 200; ++i) {
    change_a_run();
    wanted.push_back(R"({"run_id":)" + std::to_string(runs_) + R"(,"kind":"added"})");
  }
  ASSERT_TRUE(come(wanted.size()));
  watch.stop();
  EXPECT_EQ(take_told(), wanted);
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
