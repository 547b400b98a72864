#include "server/http/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>

#include "server/http/held_bodies.h"
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

TEST(HeldBodies, CountABodyUntilItsLastUserIsGone) {
  constexpr std::size_t kLarge = HeldBodies::kLargeFromBytes;
  const HeldBodies bodies(3 * kLarge, kLarge);
  const auto body_of = [](std::size_t size) {
    return std::make_shared<const std::string>(size, 'x');
  };
  auto first = bodies.count(body_of(2 * kLarge));
  EXPECT_EQ(first->size(), 2 * kLarge);
  EXPECT_EQ(bodies.large_bytes(), 2 * kLarge);
  EXPECT_NE(bodies.reserve(kLarge), nullptr);
  auto second = bodies.count(body_of(kLarge));
  EXPECT_EQ(bodies.reserve(kLarge), nullptr);
  auto copy = first;
  first.reset();
  EXPECT_EQ(bodies.reserve(kLarge), nullptr);
  copy.reset();
  EXPECT_NE(bodies.reserve(kLarge), nullptr);
  second.reset();
  EXPECT_EQ(bodies.large_bytes(), 0U);
}

TEST(HeldBodies, HaveAShareForThoseThatAreNotLarge) {
  constexpr std::size_t kLarge = HeldBodies::kLargeFromBytes;
  const HeldBodies bodies(kLarge, kLarge);
  auto room = bodies.reserve(5 * kLarge);
  EXPECT_NE(room, nullptr) << "overdrawn by the one that found room";
  EXPECT_EQ(bodies.reserve(kLarge), nullptr);
  const auto ordinary = bodies.count(std::make_shared<const std::string>(kLarge - 1, 'x'));
  const auto small =
      bodies.count(std::make_shared<const std::string>(HeldBodies::kCountedFromBytes - 1, 'x'));
  EXPECT_EQ(bodies.other_bytes(), kLarge - 1);
  EXPECT_NE(bodies.reserve(1), nullptr);
  room.reset();
  EXPECT_EQ(bodies.large_bytes(), 0U);
}

}  // namespace
}  // namespace llmb::http
