// Bodies that are read while they are sent: their forms on the wire, how many there may be, and
// what a client sees of one that cannot be read to its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <latch>
#include <memory>
#include <stdexcept>
#include <vector>

#include "server/http/compression.h"
#include "tests/server/http/gunzip.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

// The chunks of a body, put together; nothing where the last one is missing.
std::optional<std::string> joined_chunks(std::string_view rest) {
  std::string body;
  for (;;) {
    const std::size_t end = rest.find("\r\n");
    std::size_t size = 0;
    if (end == std::string_view::npos) return std::nullopt;
    std::from_chars(rest.data(), rest.data() + end, size, 16);
    rest.remove_prefix(end + 2);
    if (rest.size() < size + 2) return std::nullopt;
    if (size == 0) return body;
    body += rest.substr(0, size);
    rest.remove_prefix(size + 2);
  }
}

class StreamedBodies : public testing::Test {
 protected:
  static constexpr std::size_t kPieceBytes = 64 * 1024;
  static constexpr int kPieces = 40;

  StreamedBodies() {
    ServerOptions options = test_options();
    options.streams_max = 3;
    options.streaming_threads = 1;
    server_ = std::make_unique<TestServer>(options, [this](Router& router) {
      router.add("GET", "/counted", [this](const Request&) { return response(true, kPieces); });
      router.add("GET", "/uncounted", [this](const Request&) { return response(false, kPieces); });
      router.add("GET", "/short", [this](const Request&) { return response(true, kPieces - 1); });
      router.add("GET", "/long", [this](const Request&) { return response(true, kPieces + 1); });
      router.add("GET", "/torn", [this](const Request&) { return response(false, -kPieces); });
      router.add("GET", "/endless", [this](const Request&) { return response(false, 1 << 20); });
      router.add("GET", "/empty", [this](const Request&) {
        Response empty = response(false, 0);
        empty.stream.size_bytes = 0;
        return empty;
      });
    });
  }

  static std::string piece(int at) {
    std::string text;
    while (text.size() < kPieceBytes) text += "line of piece " + std::to_string(at) + "\n";
    text.resize(kPieceBytes);
    return text;
  }
  static std::string whole() {
    std::string text;
    for (int at = 0; at < kPieces; ++at) text += piece(at);
    return text;
  }

  // So many pieces; if fewer than none, so many and then what cannot be read.
  Response response(bool is_counted, int pieces) {
    Response made;
    made.content_type = "text/plain";
    made.etag = "s1";
    if (is_counted) made.stream.size_bytes = kPieces * kPieceBytes;
    made.stream.next = [this, pieces, at = 0]() mutable -> std::string {
      ++pieces_read_;
      if (at == pieces) return {};
      if (at == -pieces) throw std::runtime_error("the file became shorter");
      return piece(at++);
    };
    return made;
  }

  std::uint64_t streams() { return server_->server.counters().body_streams_open; }

  std::atomic<int> pieces_read_ = 0;
  std::unique_ptr<TestServer> server_;
};

TEST_F(StreamedBodies, SayTheirLengthWhereItIsKnown) {
  RawClient client(server_->port());
  RawResponse response = client.request(get("/counted"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers["content-length"], std::to_string(kPieces * kPieceBytes));
  EXPECT_EQ(response.headers["etag"], "\"s1\"");
  EXPECT_EQ(response.headers["x-content-type-options"], "nosniff");
  EXPECT_EQ(response.headers.count("transfer-encoding"), 0U);
  EXPECT_TRUE(response.body == whole());
  response = client.request(get("/empty"));
  EXPECT_EQ(response.headers["content-length"], "0");
  // The connection is good for more.
  EXPECT_EQ(client.request(get("/json")).status, 200);
  EXPECT_TRUE(eventually([&] { return streams() == 0; }));
}

TEST_F(StreamedBodies, GoOutInChunksWhereItIsNot) {
  RawClient client(server_->port());
  RawResponse response = client.request(get("/uncounted"));
  EXPECT_EQ(response.headers["transfer-encoding"], "chunked");
  EXPECT_EQ(response.headers.count("content-length"), 0U);
  EXPECT_TRUE(joined_chunks(client.read_until("\r\n0\r\n\r\n")) == whole());
  EXPECT_EQ(client.request(get("/json")).status, 200);
}

TEST_F(StreamedBodies, AreCompressedForWhoTakesThat) {
  for (const char* const encoding : {"gzip", "zstd"}) {
    RawClient client(server_->port());
    RawResponse response = client.request(
        get("/counted", std::string("Accept-Encoding: ") + encoding + "\r\nConnection: close\r\n"));
    EXPECT_EQ(response.headers["content-encoding"], encoding);
    EXPECT_EQ(response.headers["etag"], std::string("\"s1-") + encoding + '"');
    EXPECT_EQ(response.headers["vary"], "Accept-Encoding");
    std::string rest;
    ASSERT_TRUE(client.is_closed_within(kTestPatience, &rest));
    const auto packed = joined_chunks(rest);
    ASSERT_TRUE(packed);
    EXPECT_LT(packed->size(), whole().size() / 10);
    const bool is_gzip = std::string_view(encoding) == "gzip";
    EXPECT_TRUE((is_gzip ? gunzip(*packed, whole().size())
                         : *decompress_zstd(*packed, whole().size())) == whole());
  }
}

TEST_F(StreamedBodies, AnswerHeadAndIfNoneMatchWithoutBeingRead) {
  RawClient client(server_->port());
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n";
  RawResponse response = client.request("HEAD /counted" + host + "\r\n");
  EXPECT_EQ(response.headers["content-length"], std::to_string(kPieces * kPieceBytes));
  EXPECT_EQ(client.request("HEAD /uncounted" + host + "\r\n").status, 200);
  EXPECT_EQ(client.request(get("/counted", "If-None-Match: \"s1-gzip\"\r\n")).status, 304);
  EXPECT_EQ(client.request(get("/json")).status, 200);
  EXPECT_EQ(pieces_read_, 0);
}

TEST_F(StreamedBodies, EndWithTheConnectionForHttp10) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("GET /uncounted HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n"));
  RawResponse response = client.read_response();
  EXPECT_EQ(response.headers["connection"], "close");
  EXPECT_EQ(response.headers.count("transfer-encoding"), 0U);
  std::string body;
  ASSERT_TRUE(client.is_closed_within(kTestPatience, &body));
  EXPECT_TRUE(body == whole());
}

TEST_F(StreamedBodies, AreBrokenOffWhereTheyCannotBeReadToTheirEnd) {
  for (const char* const path : {"/torn", "/short", "/long"}) {
    for (const char* const version : {"HTTP/1.1", "HTTP/1.0"}) {
      RawClient client(server_->port());
      ASSERT_TRUE(
          client.send(std::string("GET ") + path + " " + version + "\r\nHost: localhost\r\n\r\n"));
      std::string got;
      bool was_reset = false;
      ASSERT_TRUE(client.is_closed_within(kTestPatience, &got, &was_reset)) << path;
      EXPECT_TRUE(was_reset) << path << " " << version;
      EXPECT_EQ(got.find("\r\n0\r\n\r\n"), std::string::npos) << path << " " << version;
    }
  }
  EXPECT_TRUE(eventually([&] { return streams() == 0; }));
}

TEST_F(StreamedBodies, AreReadNoFurtherThanTheClientTakesThem) {
  auto client = std::make_unique<RawClient>(server_->port(), 4096);
  ASSERT_TRUE(client->send(get("/endless")));
  // What the kernel buffers is read, and then no more of the million pieces.
  ASSERT_TRUE(eventually([&] { return pieces_read_ > 0 && client->is_answered(); }));
  EXPECT_EQ(streams(), 1U);
  client.reset();
  EXPECT_TRUE(eventually([&] { return streams() == 0; }));
  EXPECT_LT(pieces_read_, 1'000);
}

TEST_F(StreamedBodies, AreSoManyAtOnceAndLeaveOthersAlone) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port(), 4096));
    ASSERT_TRUE(clients.back()->send(get("/endless")));
  }
  ASSERT_TRUE(eventually([&] { return streams() == 3; }));
  RawClient client(server_->port());
  RawResponse refusal = client.request(get("/counted"));
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.headers["content-type"], "application/problem+json");
  EXPECT_EQ(refusal.headers["retry-after"], "30");
  EXPECT_EQ(client.request(get("/json")).status, 200);
  clients.pop_back();
  ASSERT_TRUE(eventually([&] { return streams() == 2; }));
  EXPECT_EQ(client.request(get("/counted")).status, 200);
}

TEST_F(StreamedBodies, DoNotHoldUpTheEndOfTheServer) {
  RawClient client(server_->port(), 4096);
  ASSERT_TRUE(client.send(get("/endless")));
  ASSERT_TRUE(eventually([&] { return streams() == 1; }));
  server_->server.stop();
  EXPECT_TRUE(client.is_closed_within());
}

}  // namespace
}  // namespace llmb::http
