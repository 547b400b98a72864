// Handlers that take long, and those that must not notice. Nothing here depends on time: a slow
// handler returns when the test lets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <vector>

#include "server/http/request_error.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;

class SlowHandler : public testing::Test {
 protected:
  SlowHandler() {
    ServerOptions options = test_options();
    options.threads = 1;
    options.computing_threads = 2;
    options.waiting_threads = 3;
    options.queued_requests_max = 4;
    const auto hang = [this](const Request&) {
      may_end_.wait();
      return json_response("\"done\"");
    };
    server_ = std::make_unique<TestServer>(options, [&](Router& router) {
      router.add("GET", "/computing", hang, {.work = Work::computing});
      router.add("POST", "/waiting", hang, {.work = Work::waiting});
      router.add("GET", "/late",
                 [this](const Request&) {
                   Response response;
                   response.etag = "late-1";
                   response.make_body = [this] {
                     may_end_.wait();
                     return Body{std::make_shared<const std::string>("\"late\""), {}};
                   };
                   return response;
                 },
                 {.work = Work::computing});
    });
  }
  ~SlowHandler() override { let_go(); }

  void let_go() {
    if (!may_end_.try_wait()) may_end_.count_down();
  }

  // Clients whose requests are with the server and not answered.
  std::vector<std::unique_ptr<RawClient>> hang(const std::string& message, int count) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<RawClient>(server_->port()));
      EXPECT_TRUE(clients.back()->send(message));
    }
    return clients;
  }

  bool are_under_way(std::uint64_t computing, std::uint64_t waiting) {
    return eventually([&] {
      const ServerCounters counters = server_->server.counters();
      return counters.requests_computing == computing && counters.requests_waiting == waiting;
    });
  }

  static constexpr const char* kPost =
      "POST /waiting HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  std::latch may_end_{1};
  std::unique_ptr<TestServer> server_;
};

TEST_F(SlowHandler, LeavesTheQuickOnesAlone) {
  auto waiting = hang(kPost, 7);
  auto computing = hang(get("/computing"), 5);
  computing.push_back(std::move(hang(get("/late"), 1).front()));
  ASSERT_TRUE(are_under_way(6, 7));
  RawClient client(server_->port());
  EXPECT_EQ(client.request(get("/json")).status, 200);
  EXPECT_EQ(client.request(get("/large", "Accept-Encoding: gzip\r\n")).status, 200);
  RawClient listener(server_->port());
  ASSERT_TRUE(listener.send(get("/events")));
  EXPECT_THAT(listener.read_until("id: 100\n\n"), HasSubstr("text/event-stream"));
  server_->channel.publish("run", "{}");
  EXPECT_THAT(listener.read_until("data: {}\n\n"), HasSubstr("event: run"));
  let_go();
  for (auto& slow : waiting) EXPECT_EQ(slow->read_response().body, "\"done\"");
  for (auto& slow : computing) EXPECT_EQ(slow->read_response().status, 200);
}

TEST_F(SlowHandler, IsRefusedWhereTooManyWait) {
  auto computing = hang(get("/computing"), 6);
  ASSERT_TRUE(are_under_way(6, 0));
  RawClient client(server_->port());
  const RawResponse refusal = client.request(get("/computing"));
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.headers.at("retry-after"), "5");
  EXPECT_EQ(refusal.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(server_->server.counters().requests_refused_busy, 1U);
  // The other pool has room, and the refused client's connection is good for more.
  auto waiting = hang(kPost, 1);
  ASSERT_TRUE(are_under_way(6, 1));
  let_go();
  EXPECT_EQ(waiting.front()->read_response().status, 200);
  ASSERT_TRUE(are_under_way(0, 0));
  EXPECT_EQ(client.request(get("/computing")).status, 200);
}

TEST_F(SlowHandler, IsWaitedForAtTheEndAndItsQueueIsNot) {
  auto waiting = hang(kPost, 7);
  ASSERT_TRUE(are_under_way(0, 7));
  std::thread stopper([&] { server_->server.stop(); });
  for (auto& slow : waiting) EXPECT_TRUE(slow->is_closed_within());
  let_go();
  stopper.join();
  EXPECT_EQ(server_->server.counters().requests_waiting, 0U);
  server_.reset();  // with the connections whose handlers never ran
}

TEST_F(SlowHandler, IsNotAskedForWhatTheClientHas) {
  RawClient client(server_->port());
  EXPECT_EQ(client.request(get("/late", "If-None-Match: \"late-1\"\r\n")).status, 304);
}

TEST(LargeAnswers, AreRefusedWhereTooManyAreInMemory) {
  constexpr std::size_t kLargeBodyBytes = std::size_t{8} * 1024 * 1024;
  ServerOptions options = test_options();
  options.large_bodies_bytes_max = 2 * kLargeBodyBytes;
  std::atomic<int> made = 0;
  TestServer server(options, [&](Router& router) {
    router.add("GET", "/steps",
               [&](const Request&) {
                 Response response;
                 response.content_type = "application/octet-stream";
                 response.making_bytes_max = kLargeBodyBytes;
                 response.make_body = [&] {
                   ++made;
                   return Body{std::make_shared<const std::string>(kLargeBodyBytes, 'x'), {}};
                 };
                 return response;
               },
               {.work = Work::computing});
    router.add("GET", "/ordinary",
               [](const Request&) { return json_response(std::string(100'000, ' ') + "1"); });
  });
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 2; ++i) {
    deaf.push_back(std::make_unique<RawClient>(server.port(), 4096));
    ASSERT_TRUE(deaf.back()->send(get("/steps")));
  }
  ASSERT_TRUE(eventually(
      [&] { return server.server.counters().large_bodies_bytes == 2 * kLargeBodyBytes; }));
  for (int i = 0; i < 20; ++i) {
    RawClient client(server.port());
    const RawResponse refusal = client.request(get("/steps"));
    EXPECT_EQ(refusal.status, 503);
    EXPECT_TRUE(refusal.headers.contains("retry-after"));
  }
  EXPECT_EQ(made, 2);
  EXPECT_EQ(RawClient(server.port()).request(get("/ordinary")).status, 200)
      << "a body of another size";
  deaf.clear();
  ASSERT_TRUE(eventually([&] { return server.server.counters().large_bodies_bytes == 0; }));
  RawClient client(server.port());
  EXPECT_EQ(client.request(get("/steps")).body.size(), kLargeBodyBytes);
}

// Two that are made at the same moment do not both believe that there is room.
TEST(LargeAnswers, HaveTheirRoomBeforeTheyAreMade) {
  constexpr std::size_t kLargeBodyBytes = std::size_t{8} * 1024 * 1024;
  ServerOptions options = test_options();
  options.large_bodies_bytes_max = kLargeBodyBytes;
  options.computing_threads = 2;
  std::latch may_end(1);
  TestServer server(options, [&](Router& router) {
    router.add("GET", "/steps",
               [&](const Request&) {
                 Response response;
                 response.making_bytes_max = kLargeBodyBytes;
                 response.make_body = [&] {
                   may_end.wait();
                   return Body{std::make_shared<const std::string>("[]"), {}};
                 };
                 return response;
               },
               {.work = Work::computing});
  });
  RawClient first(server.port());
  ASSERT_TRUE(first.send(get("/steps")));
  EXPECT_TRUE(
      eventually([&] { return server.server.counters().large_bodies_bytes == kLargeBodyBytes; }));
  EXPECT_EQ(RawClient(server.port()).request(get("/steps")).status, 503);
  may_end.count_down();
  EXPECT_EQ(first.read_response().status, 200);
  EXPECT_EQ(RawClient(server.port()).request(get("/steps")).status, 200);
}

// Each of these clients asks again and again, reads nothing, and fills the kernel's buffers first.
TEST(OrdinaryAnswers, AreRefusedWhereTooManyAreInMemory) {
  static constexpr std::size_t kLargeBodyBytes = std::size_t{512} * 1024;
  ServerOptions options = test_options();
  options.other_bodies_bytes_max = 4 * kLargeBodyBytes;
  const auto answer = [](const Request&) {
    Response response;
    response.content_type = "application/octet-stream";
    response.body = std::make_shared<const std::string>(kLargeBodyBytes, 'x');
    return response;
  };
  TestServer server(options, [&](Router& router) {
    router.add("GET", "/ordinary", answer);
    router.add("POST", "/done", answer);
  });
  std::string requests;
  for (int i = 0; i < 64; ++i) requests += get("/ordinary");
  std::vector<std::unique_ptr<RawClient>> deaf;
  const auto add_deaf = [&] {
    deaf.push_back(std::make_unique<RawClient>(server.port(), 4096));
    EXPECT_TRUE(deaf.back()->send(requests));
  };
  for (int i = 0; i < 4; ++i) add_deaf();
  RawResponse refusal;
  ASSERT_TRUE(eventually([&] {
    refusal = RawClient(server.port()).request(get("/ordinary"));
    // Its answer may have been the fourth for a moment, in which all that a deaf client asked for
    // was refused.
    if (refusal.status != 503) add_deaf();
    return refusal.status == 503;
  }));
  EXPECT_TRUE(refusal.headers.contains("retry-after"));
  EXPECT_LE(server.server.counters().other_bodies_bytes, 5 * kLargeBodyBytes);
  EXPECT_EQ(RawClient(server.port()).request(get("/json")).status, 200) << "a small one";
  EXPECT_EQ(RawClient(server.port())
                .request("POST /done HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                .status,
            200)
      << "what it did is done";
  deaf.clear();
  EXPECT_TRUE(eventually([&] { return server.server.counters().other_bodies_bytes == 0; }));
}

}  // namespace
}  // namespace llmb::http
