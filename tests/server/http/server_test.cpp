// The server as a well-behaved client sees it.
#include "server/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Server, AnswersWithBodyAndSecurityHeaders) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.request(get("/json"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"a":1})");
  EXPECT_EQ(response.headers.at("content-type"), "application/json");
  EXPECT_EQ(response.headers.at("cache-control"), "no-cache");
  EXPECT_EQ(response.headers.at("etag"), "\"v1\"");
  EXPECT_EQ(response.headers.at("server"), "llmb-report");
  EXPECT_EQ(response.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(response.headers.at("referrer-policy"), "no-referrer");
  EXPECT_EQ(response.headers.at("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'");
  EXPECT_THAT(response.headers.at("date"),
              testing::MatchesRegex("[A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ [0-9]+ [0-9:]+ GMT"));
  EXPECT_FALSE(response.headers.contains("strict-transport-security"));
  EXPECT_FALSE(response.headers.contains("access-control-allow-origin"));
}

TEST(Server, KeepsTheConnectionForTheNextRequest) {
  TestServer server;
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.request(get("/json")).status, 200);
  EXPECT_EQ(server.server.counters().connections_open, 1U);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 100; ++i) all += get("/runs/" + std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read_response().body, std::to_string(i));
}

TEST(Server, ClosesWhereTheClientAsksForIt) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.request(get("/json", "Connection: close\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed_within());
}

TEST(Server, ServesHttp10WithAndWithoutKeepAlive) {
  TestServer server;
  RawClient once(server.port());
  EXPECT_EQ(once.request("GET /json HTTP/1.0\r\n\r\n").body, R"({"a":1})");
  EXPECT_TRUE(once.is_closed_within());
  RawClient kept(server.port());
  for (int i = 0; i < 2; ++i) {
    const RawResponse response =
        kept.request("GET /json HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.headers.at("connection"), "keep-alive");
  }
}

TEST(Server, AnswersHeadWithTheHeadersOfGet) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.request("HEAD /json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "7");
  EXPECT_EQ(client.request(get("/json")).body, R"({"a":1})");  // no body was in between
}

TEST(Server, ReadsBodiesWithLengthAndInChunks) {
  TestServer server;
  RawClient client(server.port());
  EXPECT_EQ(client
                .request("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"
                         "hello")
                .body,
            "hello");
  EXPECT_EQ(client
                .request("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n"
                         "Trailer: 1\r\n\r\n")
                .body,
            "hello");
  EXPECT_EQ(client.request(get("/json")).status, 200);
}

TEST(Server, ReadsAMessageThatComesByteByByte) {
  TestServer server;
  RawClient client(server.port());
  const std::string message =
      "\r\nPOST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  for (const char c : message) ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_EQ(client.read_response().body, "hello world");
}

TEST(Server, TellsAClientThatWaitsToGoOn) {
  TestServer server;
  RawClient client(server.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.request("ok").body, "ok");
}

TEST(Server, HandsOverDecodedPathQueryAndPeer) {
  TestServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.request(get("/%65cho?q=a%20b+c%2F%C3%BC&q=2")).body,
            "/echo|a b c/\u00fc|GET|127.0.0.1");
  EXPECT_EQ(client.request(get("http://localhost/echo")).body, "/echo|-|GET|127.0.0.1");
}

TEST(Server, Answers304WhereTheTagMatches) {
  TestServer server;
  RawClient client(server.port());
  for (const char* tags : {"\"v1\"", "\"x\", W/\"v1\"", "*", "\"v1-gzip\""}) {
    const RawResponse response =
        client.request(get("/json", "If-None-Match: " + std::string(tags) + "\r\n"));
    EXPECT_EQ(response.status, 304) << tags;
    EXPECT_FALSE(response.headers.contains("content-length"));
    EXPECT_TRUE(response.headers.contains("etag"));
  }
  EXPECT_EQ(client.request(get("/json", "If-None-Match: \"v2\"\r\n")).status, 200);
}

TEST(Server, CompressesOnceAndServesFromTheCache) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse plain = client.request(get("/large"));
  EXPECT_EQ(plain.body, TestServer::large_body());
  EXPECT_EQ(plain.headers.at("vary"), "Accept-Encoding");
  const RawResponse packed = client.request(get("/large", "Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(packed.headers.at("etag"), "\"large-1-gzip\"");
  EXPECT_LT(packed.body.size(), plain.body.size() / 2);
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
  const RawResponse zstd = client.request(get("/large", "Accept-Encoding: gzip, zstd\r\n"));
  EXPECT_EQ(zstd.headers.at("content-encoding"), "zstd");
  EXPECT_EQ(zstd.body.substr(0, 4), "\x28\xb5\x2f\xfd");
  EXPECT_EQ(client.request(get("/large", "Accept-Encoding: gzip\r\n")).body, packed.body);
  EXPECT_EQ(client.request(get("/large", "If-None-Match: \"large-1-zstd\"\r\n")).status, 304);
  for (const char* encoding : {"identity", "gzip", "zstd"}) {
    const std::string wanted = "Accept-Encoding: " + std::string(encoding) + "\r\n";
    EXPECT_EQ(client.request(get("/large", wanted)).headers.at("x-made"), "late") << encoding;
  }
  EXPECT_EQ(server.bodies_made, 1);
}

TEST(Server, DoesNotCompressWhatIsSmall) {
  TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.request(get("/json", "Accept-Encoding: gzip\r\n"));
  EXPECT_FALSE(response.headers.contains("content-encoding"));
  EXPECT_EQ(response.headers.at("etag"), "\"v1\"");
}

TEST(Server, HidesWhatAHandlerThrows) {
  TestServer server;
  RawClient client(server.port());
  for (const char* target : {"/throws", "/throws-late"}) {
    const RawResponse response = client.request(get(target));
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.headers.at("content-type"), "application/problem+json");
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(client.request(get("/json")).status, 200);
}

TEST(Server, CountsWhatItDoes) {
  TestServer server;
  RawClient client(server.port());
  client.request(get("/json"));
  client.request(get("/nothing"));
  const ServerCounters counters = server.server.counters();
  EXPECT_EQ(counters.requests, 2U);
  EXPECT_EQ(counters.responses_by_class[2], 1U);
  EXPECT_EQ(counters.responses_by_class[4], 1U);
  std::uint64_t measured = 0;
  for (const std::uint64_t count : counters.latency_counts) measured += count;
  EXPECT_EQ(measured, 2U);
  EXPECT_GT(counters.latency_s_sum, 0.0);
}

TEST(Server, ServesManyClientsAtOnce) {
  TestServer server;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<RawClient>(server.port()));
  for (int round = 0; round < 5; ++round) {
    for (auto& client : clients) ASSERT_TRUE(client->send(get("/large")));
    for (auto& client : clients) EXPECT_EQ(client->read_response().status, 200);
  }
  EXPECT_EQ(server.server.counters().connections_open, 50U);
  clients.clear();
  EXPECT_TRUE(eventually([&] { return server.server.counters().connections_open == 0; }));
}

TEST(Server, StopsTwiceAndEndsWhatIsOpen) {
  TestServer server;
  RawClient idle(server.port());
  EXPECT_EQ(idle.request(get("/json")).status, 200);
  server.server.stop();
  EXPECT_TRUE(idle.is_closed_within());
  server.server.stop();
  EXPECT_THROW(RawClient{server.port()}, std::runtime_error);
}

TEST(Server, WaitsForWhatRunsInTheBackgroundAndTellsItToEnd) {
  TestServer server;
  std::atomic<bool> has_begun = false;
  std::atomic<bool> has_ended = false;
  server.server.run_in_background([&](const std::function<bool()>& is_stopping) {
    has_begun = true;
    while (!is_stopping()) std::this_thread::yield();
    has_ended = true;
  });
  while (!has_begun) std::this_thread::yield();
  RawClient client(server.port());
  EXPECT_EQ(client.request(get("/json")).status, 200);
  EXPECT_FALSE(has_ended);
  server.server.stop();
  EXPECT_TRUE(has_ended);
}

TEST(Server, NamesThePortThatIsInUse) {
  TestServer first;
  ServerOptions options;
  options.port = first.port();
  const Router router;
  Server second(options, router);
  try {
    second.start();
    FAIL() << "listened on a port in use";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:" + std::to_string(first.port())));
    EXPECT_THAT(error.what(), HasSubstr("choose another port"));
  }
}

TEST(Server, RefusesAnOpenAddressWithoutProtection) {
  ServerOptions options;
  options.address = "0.0.0.0";
  const Router router;
  Server server(options, router);
  try {
    server.start();
    FAIL() << "listened without protection";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("0.0.0.0:8642"));
    EXPECT_THAT(error.what(), HasSubstr("behind-proxy"));
  }
}

TEST(Server, RefusesAnAddressThatIsNone) {
  ServerOptions options;
  options.address = "everywhere";
  const Router router;
  EXPECT_THROW(Server(options, router).start(), std::runtime_error);
}

}  // namespace
}  // namespace llmb::http
