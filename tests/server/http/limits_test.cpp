// The server as a broken or hostile client sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/system/error_code.hpp>
#include <cerrno>
#include <memory>
#include <vector>

#include "server/http/service.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kHost = "Host: localhost\r\n";

RawResponse ask(std::uint16_t port, const std::string& message) {
  RawClient client(port);
  RawResponse response = client.request(message);
  EXPECT_TRUE(client.is_closed_within()) << message.substr(0, 80);
  return response;
}

TEST(Limits, RefuseMalformedMessagesAndClose) {
  const TestServer server;
  const std::string host(kHost);
  for (const std::string& message : std::vector<std::string>{
           "GARBAGE\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls hello\r\n",
           "GET\r\n\r\n", "GET /json\r\n\r\n", "GET  /json HTTP/1.1\r\n" + host + "\r\n",
           "GET /json HTTP/1.1\r\nHost: localhost\nX: 1\r\n\r\n",
           "GET /json HTTP/1.1\r\nHost : localhost\r\n\r\n",
           "GET /json HTTP/1.1\r\n" + host + "no colon\r\n\r\n",
           "GET /json HTTP/1.1\r\n\r\n",  // no Host
           "GET /json HTTP/1.1\r\n" + host + host + "\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    RawResponse response = ask(server.port(), message);
    EXPECT_EQ(response.status, 400) << message;
    EXPECT_EQ(response.headers["content-type"], "application/problem+json");
    EXPECT_EQ(response.headers["connection"], "close");
  }
  EXPECT_EQ(server.handled, 0);
}

TEST(Limits, RefuseWhatCouldSmuggleARequest) {
  const TestServer server;
  const std::string post = "POST /echo HTTP/1.1\r\n" + std::string(kHost);
  const std::string smuggled = get("/json");
  for (const char* framing :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n",
        "Content-Length: 0x5\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length:\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}) {
    EXPECT_EQ(ask(server.port(), post + framing + "\r\n0\r\n\r\n" + smuggled).status, 400)
        << framing;
  }
  for (const char* coding : {"gzip, chunked", "identity", "xchunked", "chunked, gzip"}) {
    const std::string message = post + "Transfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\n";
    EXPECT_EQ(ask(server.port(), message + smuggled).status, 501) << coding;
  }
  EXPECT_EQ(ask(server.port(), "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").status,
            400);
  EXPECT_EQ(ask(server.port(), post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n").status, 400);
  EXPECT_EQ(server.handled, 0);
}

TEST(Limits, RefuseUnknownMethodsAndVersions) {
  const TestServer server;
  const std::string rest = " /json HTTP/1.1\r\n" + std::string(kHost) + "\r\n";
  for (const char* method : {"BREW", "TRACE", "CONNECT", "get"}) {
    EXPECT_EQ(ask(server.port(), method + rest).status, 501) << method;
  }
  EXPECT_EQ(ask(server.port(), "GET /json HTTP/1.2\r\n\r\n").status, 505);
  EXPECT_EQ(ask(server.port(), "GET /json HTTP/3.0\r\n\r\n").status, 505);
  RawClient client(server.port());
  const RawResponse response = client.request("DELETE" + rest);
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.at("allow"), "GET,HEAD");
  EXPECT_EQ(client.request(get("/json")).status, 200);  // that one was well-formed
}

TEST(Limits, RefuseTargetsThatAreNotPlain) {
  const TestServer server;
  for (const char* target : {"/a%00", "/%2e%2e/x", "/../x", "/%c0%af", "/%ff", "/%zz", "/a%2fb"}) {
    EXPECT_EQ(ask(server.port(), get(target)).status, 400) << target;
  }
}

TEST(Limits, RefuseLongHeaders) {
  const TestServer server;
  EXPECT_EQ(ask(server.port(), get("/" + std::string(9000, 'a'))).status, 431);
  EXPECT_EQ(ask(server.port(), get("/json", "X: " + std::string(9000, 'a') + "\r\n")).status, 431);
  std::string many;
  for (int i = 0; i < 150; ++i) many += "X: 1\r\n";
  EXPECT_EQ(ask(server.port(), get("/json", many)).status, 431);
  std::string wide;
  for (int i = 0; i < 90; ++i) wide += "X: " + std::string(100, 'a') + "\r\n";
  EXPECT_EQ(ask(server.port(), get("/json", wide)).status, 431);
  // An endless line without an end.
  EXPECT_EQ(ask(server.port(), "GET /" + std::string(20000, 'a')).status, 431);
  RawClient client(server.port());
  EXPECT_EQ(client.request(get("/json", "X: " + std::string(7000, 'a') + "\r\n")).status, 200);
}

TEST(Limits, RefuseLongBodiesByRoute) {
  const TestServer server;
  const std::string host(kHost);
  const auto post = [&](const std::string& path, const std::string& rest) {
    return ask(server.port(), "POST " + path + " HTTP/1.1\r\n" + host + rest);
  };
  EXPECT_EQ(post("/small", "Content-Length: 11\r\n\r\n").status, 413);
  EXPECT_EQ(post("/small", "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n").status, 413);
  EXPECT_EQ(
      post("/small", "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n").status,
      413);
  EXPECT_EQ(post("/echo", "Content-Length: 1048577\r\n\r\n").status, 413);
  EXPECT_EQ(post("/echo", "Content-Length: 1048577\r\n\r\n" + std::string(1048577, 'x')).status,
            413);
  RawClient client(server.port());
  const std::string body(1048576, 'y');
  EXPECT_EQ(
      client.request("POST /echo HTTP/1.1\r\n" + host + "Content-Length: 1048576\r\n\r\n" + body)
          .body,
      body);
}

TEST(Limits, RefuseForeignHostsOnTheLoopback) {
  ServerOptions options = test_options();
  options.allowed_hosts = {"bench.example.org"};
  const TestServer server(options);
  RawClient client(server.port());
  const auto status_for = [&](const std::string& host) {
    return client.request("GET /json HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
  };
  EXPECT_EQ(status_for("127.0.0.1:" + std::to_string(server.port())), 200);
  EXPECT_EQ(status_for("[::1]:99"), 200);
  EXPECT_EQ(status_for("bench.example.org"), 200);
  EXPECT_EQ(status_for("evil.example.org"), 421);
  EXPECT_EQ(
      client.request("GET http://evil.example.org/json HTTP/1.1\r\nHost: localhost\r\n\r\n").status,
      421);
  EXPECT_EQ(server.handled, 3);
}

TEST(Limits, GuardEveryAddressOfTheLoopback) {
  const Router router;
  const auto asked_at = [&](const std::string& address, const std::string& host) {
    ServerOptions options;
    options.address = address;
    Request request;
    request.host = host;
    const auto refusal = Service(options, router).check_host(request);
    return refusal ? *refusal->body : "";
  };
  for (const char* const address : {"127.0.0.2", "::1", "0:0:0:0:0:0:0:1", "localhost"}) {
    EXPECT_THAT(asked_at(address, "evil.example.org"), HasSubstr("--allow-host")) << address;
  }
  EXPECT_EQ(asked_at("127.0.0.2", "127.0.0.2:8642"), "");
  EXPECT_EQ(asked_at("0:0:0:0:0:0:0:1", "[::1]:8642"), "");
  EXPECT_THAT(asked_at("127.0.0.2", "evil.example.org"), HasSubstr("use 127.0.0.2, or"));
  EXPECT_THAT(asked_at("::1", "evil.example.org"), HasSubstr("use [::1], or"));
  EXPECT_EQ(asked_at("10.0.0.1", "any.example.org"), "");
}

TEST(Limits, CutAMessageThatTrickles) {
  ServerOptions options = test_options();
  options.read_deadline = 200ms;
  options.idle_deadline = 1h;
  const TestServer server(options);
  RawClient client(server.port());
  client.send("GET /json HTTP/1.1\r\nHost: localhost\r\n");
  // Each piece comes soon after the last: only the message as a whole is too slow.
  EXPECT_TRUE(eventually([&] {
    client.send("X: 1\r\n");
    return server.server.counters().deadlines_missed == 1;
  }));
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_TRUE(client.is_closed_within());
}

TEST(Limits, CloseAnIdleConnection) {
  ServerOptions options = test_options();
  options.idle_deadline = 200ms;
  const TestServer server(options);
  RawClient silent(server.port());
  RawClient kept(server.port());
  EXPECT_EQ(kept.request(get("/json")).status, 200);
  EXPECT_TRUE(silent.is_closed_within());
  EXPECT_TRUE(kept.is_closed_within());
  EXPECT_EQ(server.server.counters().deadlines_missed, 0U);
}

TEST(Limits, DropAClientThatDoesNotRead) {
  ServerOptions options = test_options();
  options.write_deadline = 200ms;
  const TestServer server(options);
  RawClient deaf(server.port(), 4096);
  deaf.send(get("/huge"));
  EXPECT_TRUE(eventually([&] { return server.server.counters().deadlines_missed == 1; }));
  EXPECT_TRUE(eventually([&] { return server.server.counters().connections_open == 0; }));
}

TEST(Limits, LetAClientTakeALargeBodyPieceByPiece) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.request(get("/huge"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.size(), 64U * 1024 * 1024);
  EXPECT_EQ(client.request(get("/json")).status, 200);
}

TEST(Limits, RefuseConnectionsBeyondTheMaximum) {
  ServerOptions options = test_options();
  options.connections_max = 2;
  TestServer server(options);
  RawClient first(server.port());
  auto second = std::make_unique<RawClient>(server.port());
  EXPECT_EQ(first.request(get("/json")).status, 200);
  EXPECT_EQ(second->request(get("/json")).status, 200);
  RawClient third(server.port());
  const RawResponse refusal = third.read_response();
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.body.back(), '}');
  EXPECT_TRUE(third.is_closed_within());
  EXPECT_EQ(server.server.counters().connections_refused, 1U);
  second.reset();
  EXPECT_TRUE(eventually([&] { return server.server.counters().connections_open == 1; }));
  EXPECT_EQ(RawClient(server.port()).request(get("/json")).status, 200);
}

// In a child, whose descriptors are its own: 0 where all went well, else the line that did not.
int serve_without_descriptors() {
  TestServer server;
  RawClient before(server.port());
  if (before.request(get("/json")).status != 200) return __LINE__;
  // Logs a line: UBSan checks a type it meets first through a pipe, which later it could not open.
  if (before.request(get("/throws")).status != 500) return __LINE__;
  (void)boost::system::error_code(EMFILE, boost::system::system_category()).message();  // likewise
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  RawClient waiting(server.port());  // may or may not be accepted yet
  if (waiting.request(get("/json")).status != 200) return __LINE__;
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  const rlimit tight = {static_cast<rlim_t>(lowest_free) + 1, limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &tight);
  RawClient starved(server.port());  // takes the last descriptor: none is left to accept it
  starved.send(get("/json"));
  const auto has_paused = [&] { return server.server.counters().accept_pauses >= 2; };
  if (!eventually(has_paused)) return __LINE__;
  if (before.request(get("/json")).status != 200) return __LINE__;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (starved.read_response().status != 200) return __LINE__;
  return 0;
}

TEST(Limits, OutlastAShortageOfDescriptors) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(std::min(255, serve_without_descriptors()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line that failed, modulo 256";
}

// In a child that may open 96 files, 32 of which are reserved: writes its port to `tell`, and
// serves until `end` is closed.
int serve_with_few_descriptors(int tell, int end) {
  const rlimit few = {96, 96};
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) return __LINE__;
  ServerOptions options = test_options();
  options.descriptors_reserved = 32;
  const TestServer server(options);
  const std::uint16_t port = server.port();
  if (::write(tell, &port, sizeof port) != sizeof port) return __LINE__;
  char byte = 0;
  while (::read(end, &byte, 1) > 0) {
  }
  // What is reserved is still there to be opened.
  for (int i = 0; i < 16; ++i) {
    if (::dup(tell) < 0) return __LINE__;
  }
  return 0;
}

TEST(Limits, KeepTheDescriptorsThatAreReserved) {
  int told[2] = {};
  int end[2] = {};
  ASSERT_EQ(::pipe(told), 0);
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(end[1]);
    _exit(std::min(255, serve_with_few_descriptors(told[1], end[0])));
  }
  ::close(end[0]);
  ::close(told[1]);
  std::uint16_t port = 0;
  ASSERT_EQ(::read(told[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    EXPECT_EQ(clients.back()->request(get("/json")).status, 200) << i;
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(RawClient(port).read_response().status, 503) << i;
  ::close(end[1]);  // with the clients still connected
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line that failed, modulo 256";
  ::close(told[0]);
}

}  // namespace
}  // namespace llmb::http
