#include "server/http/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>

#include "tests/server/http/raw_client.h"

namespace llmb::http {
namespace {

TEST(WorkerPool, RefusesWhatItsQueueCannotHold) {
  WorkerPool pool(2, 3, WorkerPool::Priority::normal);
  std::latch may_end(1);
  std::atomic<int> ended = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(pool.submit([&] {
      may_end.wait();
      ++ended;
    }));
  }
  EXPECT_FALSE(pool.submit([&] { ++ended; }));
  EXPECT_EQ(pool.size(), 5U);
  may_end.count_down();
  EXPECT_TRUE(eventually([&] { return pool.size() == 0; }));
  EXPECT_EQ(ended, 5);
  EXPECT_TRUE(pool.submit([&] { ++ended; }));
  EXPECT_TRUE(eventually([&] { return ended == 6; }));
}

TEST(WorkerPool, DropsWhatWaitsAndEndsWhatRunsWhenItStops) {
  WorkerPool pool(1, 8, WorkerPool::Priority::low);
  std::latch has_begun(1);
  std::latch may_end(1);
  std::atomic<bool> has_ended = false;
  const auto owned = std::make_shared<int>(0);
  pool.submit([&] {
    has_begun.count_down();
    may_end.wait();
    has_ended = true;
  });
  has_begun.wait();
  std::atomic<bool> was_called = false;
  pool.submit([&was_called, owned] { was_called = true; });
  std::thread stopper([&] { pool.stop(); });
  EXPECT_TRUE(eventually([&] { return owned.use_count() == 1; })) << "what waits is destroyed";
  may_end.count_down();
  stopper.join();
  EXPECT_TRUE(has_ended);
  EXPECT_FALSE(was_called);
  EXPECT_FALSE(pool.submit([] {}));
  EXPECT_EQ(pool.size(), 0U);
}

TEST(WorkerPool, OutlivesATaskThatThrows) {
  WorkerPool pool(1, 8, WorkerPool::Priority::normal);
  std::atomic<bool> was_called = false;
  pool.submit([] { throw std::runtime_error("no memory, say"); });
  pool.submit([&] { was_called = true; });
  EXPECT_TRUE(eventually([&] { return was_called.load(); }));
}

}  // namespace
}  // namespace llmb::http
