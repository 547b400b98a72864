// The room that large bodies take, while they are made and while they are held.
#include "server/http/held_bodies.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/http/request_error.h"
#include "server/http/wire_response.h"

namespace llmb::http {
namespace {

constexpr std::size_t kBodyBytes = 2 * HeldBodies::kLargeFromBytes;

std::shared_ptr<const std::string> text_of(std::size_t bytes) {
  return std::make_shared<const std::string>(bytes, 'x');
}

TEST(HeldBodies, KeepTheRoomOfMakingForWhatWasMade) {
  const HeldBodies held(kBodyBytes, kBodyBytes);
  auto room = held.reserve(3 * kBodyBytes);
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(held.large_bytes(), 3 * kBodyBytes);
  EXPECT_EQ(held.reserve(kBodyBytes), nullptr);
  auto body = held.count(text_of(kBodyBytes), std::move(room));
  EXPECT_EQ(held.large_bytes(), kBodyBytes);
  EXPECT_EQ(held.reserve(kBodyBytes), nullptr) << "used up";
  auto copy = body;
  body.reset();
  EXPECT_EQ(held.large_bytes(), kBodyBytes);
  copy.reset();
  EXPECT_EQ(held.large_bytes(), 0U);
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

// There is room for one. From the moment that it is being made until it is gone no other is made,
// however many threads ask.
TEST(HeldBodies, AreNeverMadeBesideOneThatFillsTheRoom) {
  BodyCache cache(0);
  const HeldBodies held(1, 1);
  std::atomic<bool> is_there = false;
  std::atomic<int> made = 0;
  const auto ask = [&] {
    for (int i = 0; i < 2'000; ++i) {
      Request request;
      request.method = "GET";
      Response response;
      response.making_bytes_max = kBodyBytes;
      response.make_body = [&] {
        EXPECT_FALSE(is_there.exchange(true));
        ++made;
        // Small, so that most of the time passes where room for making becomes the body's.
        return Body{text_of(HeldBodies::kCountedFromBytes), {}};
      };
      try {
        const WireResponse wire = make_wire_response(request, response, {}, cache, held);
        response = {};
        is_there = false;
      } catch (const RequestError& error) {
        EXPECT_EQ(error.status, 503);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(ask);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(made, 0);
  EXPECT_EQ(held.large_bytes(), 0U);
}

}  // namespace
}  // namespace llmb::http
