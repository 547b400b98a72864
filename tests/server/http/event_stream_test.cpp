#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(EventStream, BeginsWithItsPlaceAndSendsWhatIsPublished) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse head = client.request(get("/events"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(head.headers.at("cache-control"), "no-store");
  EXPECT_FALSE(head.headers.contains("content-length"));
  EXPECT_EQ(client.read_until("\n\n"), "retry: 2000\nid: 100\n\n");
  server.channel.publish("run", R"({"run_id":1})");
  EXPECT_EQ(client.read_until("\n\n"), "id: 101\nevent: run\ndata: {\"run_id\":1}\n\n");
  server.channel.publish("run", "two\nlines");
  EXPECT_EQ(client.read_until("\n\n"), "id: 102\nevent: run\ndata: two\ndata: lines\n\n");
}

TEST(EventStream, GoesOnAfterTheLastEventId) {
  TestServer server;
  for (int i = 1; i <= 3; ++i) server.channel.publish("run", std::to_string(i));
  RawClient client(server.port());
  client.request(get("/events", "Last-Event-ID: 102\r\n"));
  EXPECT_EQ(client.read_until("\n\n"), "retry: 2000\nid: 102\n\n");
  EXPECT_EQ(client.read_until("\n\n"), "id: 103\nevent: run\ndata: 3\n\n");
}

TEST(EventStream, BeginsWithWhatWasPublishedShortlyBefore) {
  TestServer server;
  for (int i = 1; i <= 2; ++i) server.channel.publish("run", std::to_string(i));
  RawClient recent(server.port());
  recent.request(get("/events?recent"));
  EXPECT_EQ(recent.read_until("\n\n"), "retry: 2000\nid: 100\n\n");
  EXPECT_EQ(recent.read_until("\n\n"), "id: 101\nevent: run\ndata: 1\n\n");
  RawClient back(server.port());
  back.request(get("/events?recent", "Last-Event-ID: 101\r\n"));
  EXPECT_EQ(back.read_until("\n\n"), "retry: 2000\nid: 101\n\n");
  EXPECT_EQ(back.read_until("\n\n"), "id: 102\nevent: run\ndata: 2\n\n");
}

TEST(EventStream, ResetsAClientWhosePlaceIsGone) {
  TestServer server;
  server.channel.publish("run", "1");
  for (const char* id : {"7", "5000", "nonsense"}) {
    RawClient client(server.port());
    client.request(get("/events", "Last-Event-ID: " + std::string(id) + "\r\n"));
    client.read_until("\n\n");
    EXPECT_EQ(client.read_until("\n\n"), "id: 101\nevent: reset\ndata: {}\n\n") << id;
  }
}

TEST(EventStream, SendsHeartbeats) {
  ServerOptions options = test_options();
  options.event_heartbeat = 20ms;
  TestServer server(options);
  RawClient client(server.port());
  client.request(get("/events"));
  client.read_until("\n\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.read_until("\n\n"), ": heartbeat\n\n");
}

TEST(EventStream, EndsWhenTheClientLeaves) {
  TestServer server;
  {
    RawClient client(server.port());
    client.request(get("/events"));
    client.read_until("\n\n");
    EXPECT_EQ(server.server.counters().event_streams_open, 1U);
  }
  EXPECT_TRUE(eventually([&] {
    server.channel.publish("run", "x");
    return server.server.counters().connections_open == 0;
  }));
  EXPECT_EQ(server.channel.subscriber_count(), 0U);
}

TEST(EventStream, DropsAClientThatDoesNotRead) {
  ServerOptions options = test_options();
  options.write_deadline = 300ms;
  TestServer server(options);
  RawClient deaf(server.port(), 4096);
  deaf.request(get("/events"));
  const std::string data(100'000, 'x');
  EXPECT_TRUE(eventually([&] {
    server.channel.publish("run", data);
    return server.server.counters().connections_open == 0;
  }));
  EXPECT_EQ(server.server.counters().deadlines_missed, 1U);
}

TEST(EventStream, ReachesEveryClientThroughManyThreads) {
  TestServer server;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->request(get("/events"));
    clients.back()->read_until("\n\n");
  }
  std::vector<std::thread> publishers;
  for (int t = 0; t < 3; ++t) {
    publishers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) server.channel.publish("run", "x");
    });
  }
  for (std::thread& publisher : publishers) publisher.join();
  for (auto& client : clients) {
    for (int id = 101; id <= 400; ++id) {
      ASSERT_THAT(client->read_until("\n\n"), HasSubstr("id: " + std::to_string(id) + "\n"));
    }
  }
}

TEST(EventStream, EndsWithTheServer) {
  TestServer server;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->request(get("/events"));
    clients.back()->read_until("\n\n");
  }
  server.server.stop();
  for (auto& client : clients) EXPECT_TRUE(client->is_closed_within());
}

}  // namespace
}  // namespace llmb::http
