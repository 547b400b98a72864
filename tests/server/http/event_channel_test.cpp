#include "server/http/event_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace llmb::http {
namespace {

TEST(EventChannel, GivesWhatCameAfterAnId) {
  EventChannel channel(10);
  channel.publish("run", "1");
  channel.publish("run", "2");
  bool was_reset = true;
  EXPECT_EQ(channel.events_after(10, was_reset).size(), 2U);
  EXPECT_FALSE(was_reset);
  const std::vector<Event> events = channel.events_after(11, was_reset);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, 12U);
  EXPECT_EQ(events[0].name, "run");
  EXPECT_EQ(events[0].data, "2");
  EXPECT_TRUE(channel.events_after(12, was_reset).empty());
  EXPECT_FALSE(was_reset);
}

TEST(EventChannel, SaysWhatIsLost) {
  EventChannel channel(0);
  for (std::size_t i = 0; i < EventChannel::kKeptEvents + 5; ++i) channel.publish("run", "");
  bool was_reset = false;
  EXPECT_EQ(channel.events_after(4, was_reset).size(), EventChannel::kKeptEvents);
  EXPECT_TRUE(was_reset);
  EXPECT_EQ(channel.events_after(5, was_reset).size(), EventChannel::kKeptEvents);
  EXPECT_FALSE(was_reset);
}

TEST(EventChannel, SaysWhereATimeBegins) {
  EventChannel channel(10);
  const auto long_ago = std::chrono::steady_clock::now() - std::chrono::hours(1);
  EXPECT_EQ(channel.last_id_before(long_ago), 10U);
  const auto let_time_pass = [] {
    const auto now = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() == now) continue;
    return std::chrono::steady_clock::now();
  };
  channel.publish("run", "1");
  const auto between = let_time_pass();
  let_time_pass();
  channel.publish("run", "2");
  EXPECT_EQ(channel.last_id_before(long_ago), 10U);
  EXPECT_EQ(channel.last_id_before(std::chrono::steady_clock::now() + std::chrono::hours(1)), 12U);
  bool was_reset = true;
  const auto since = channel.events_after(channel.last_id_before(between), was_reset);
  EXPECT_FALSE(was_reset);
  ASSERT_EQ(since.size(), 1U);
  EXPECT_EQ(since.front().data, "2");
  for (std::size_t i = 0; i < EventChannel::kKeptEvents; ++i) channel.publish("run", "");
  channel.events_after(channel.last_id_before(long_ago), was_reset);
  EXPECT_TRUE(was_reset) << "older ones of that time are not kept";
}

TEST(EventChannel, ResetsAClientOfAnEarlierLife) {
  EventChannel channel(1000);
  bool was_reset = false;
  channel.events_after(1001, was_reset);
  EXPECT_TRUE(was_reset);
  channel.events_after(3, was_reset);
  EXPECT_TRUE(was_reset);
  EXPECT_GT(EventChannel().last_id(), 1'000'000'000'000'000U);  // microseconds since 1970
}

TEST(EventChannel, WakesUntilUnsubscribed) {
  EventChannel channel;
  int woken = 0;
  const std::uint64_t id = channel.subscribe([&] { ++woken; });
  EXPECT_EQ(channel.subscriber_count(), 1U);
  channel.publish("run", "");
  channel.unsubscribe(id);
  channel.publish("run", "");
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(channel.subscriber_count(), 0U);
}

TEST(EventChannel, NumbersWithoutGapsFromManyThreads) {
  EventChannel channel(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) channel.publish("run", "x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool was_reset = true;
  const std::vector<Event> events = channel.events_after(0, was_reset);
  ASSERT_EQ(events.size(), 800U);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].id, i + 1);
}

}  // namespace
}  // namespace llmb::http
