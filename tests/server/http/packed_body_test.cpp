// Large bodies: packed while they are made, and sent block by block.
#include "server/http/packed_body.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <vector>

#include "tests/server/http/gunzip.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

constexpr std::size_t kMany = std::size_t{64} * 1024 * 1024;

// Numbers, as a series of steps has them.
std::string words_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * 7919 % 10'007) + ",";
  text.resize(bytes);
  return text;
}

BodyPacker::Made pack(std::string_view text, Encoding encoding, std::size_t piece_bytes) {
  BodyPacker packer(encoding);
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    packer.append(text.substr(at, piece_bytes));
  }
  return std::move(packer).finish();
}

std::string all_of(const BodyPacker::Made& made) {
  BodyBlocks blocks(made.whole.get(), made.packed.get());
  std::string all;
  for (auto block = blocks.next(); !block.empty(); block = blocks.next()) all += block;
  return all;
}

std::string decoded(const std::string& body, Encoding encoding) {
  if (encoding == Encoding::gzip) return gunzip(body, kMany);
  if (encoding == Encoding::zstd) return decompress_zstd(body, kMany).value_or("no zstd");
  return body;
}

TEST(PackedBody, GivesBackTheSameBytesInEveryEncoding) {
  const std::string most = words_of(3 * BodyPacker::kPackedFromBytes + 7);
  for (const std::size_t size :
       {BodyPacker::kPackedFromBytes, BodyPacker::kPackedFromBytes + 1,
        BodyPacker::kPackedFromBytes + PackedBody::kBlockBytes, most.size()}) {
    const std::string text = most.substr(0, size);
    for (const Encoding encoding : {Encoding::identity, Encoding::gzip, Encoding::zstd}) {
      for (const std::size_t piece_bytes : {std::size_t{1'001}, std::size_t{700'000}, size}) {
        const auto made = pack(text, encoding, piece_bytes);
        ASSERT_NE(made.packed, nullptr) << size;
        EXPECT_EQ(made.packed->encoding(), encoding);
        const std::string sent = all_of(made);
        EXPECT_EQ(sent.size(), made.packed->size());
        EXPECT_TRUE(decoded(sent, encoding) == text) << size << " by " << piece_bytes;
        EXPECT_LT(made.packed->held_bytes(), text.size() / 2);
      }
    }
  }
}

TEST(PackedBody, IsNotMadeOfAShortOne) {
  for (const std::size_t size : {std::size_t{0}, BodyPacker::kPackedFromBytes - 1}) {
    const std::string text = words_of(size);
    const auto made = pack(text, Encoding::zstd, 1'000);
    EXPECT_EQ(made.packed, nullptr);
    EXPECT_TRUE(*made.whole == text);
    EXPECT_TRUE(all_of(made) == text);
  }
}

class LargeBodies : public testing::Test {
 protected:
  static constexpr std::size_t kBodyBytes = std::size_t{8} * 1024 * 1024;

  void serve(ServerOptions options) {
    options.response_cache_bytes_max = 0;
    server_ = std::make_unique<TestServer>(options, [&](Router& router) {
      router.add("GET", "/steps",
                 [&](const Request& request) {
                   Response response;
                   response.etag = "steps-" + request.query_value("of").value_or("1");
                   response.making_bytes_max = kBodyBytes;
                   response.write_body = [&](const TextSink& sink) {
                     ++made_;
                     for (std::size_t at = 0; at < text_.size(); at += 10'000) {
                       sink(std::string_view(text_).substr(at, 10'000));
                     }
                   };
                   return response;
                 },
                 {.work = Work::computing});
    });
  }
  std::uint16_t port() const { return server_->port(); }
  ServerCounters counters() const { return server_->server.counters(); }
  std::unique_ptr<RawClient> deaf_client(const std::string& target) const {
    auto client = std::make_unique<RawClient>(port(), 4096);
    EXPECT_TRUE(client->send(get(target)));
    return client;
  }

  const std::string text_ = words_of(kBodyBytes);
  std::atomic<int> made_ = 0;
  std::unique_ptr<TestServer> server_;
};

TEST_F(LargeBodies, AreTheSameInEveryEncodingAndVersion) {
  serve(test_options());
  RawClient client(port());
  for (const Encoding encoding : {Encoding::identity, Encoding::gzip, Encoding::zstd}) {
    const std::string name(encoding_name(encoding));
    const std::string accept = "Accept-Encoding: " + name + "\r\n";
    const RawResponse response = client.request(get("/steps", accept));
    ASSERT_EQ(response.status, 200) << name;
    EXPECT_TRUE(decoded(response.body, encoding) == text_) << name;
    const bool is_plain = encoding == Encoding::identity;
    EXPECT_EQ(response.headers.contains("content-encoding"), !is_plain);
    const std::string tag = is_plain ? "\"steps-1\"" : "\"steps-1-" + name + "\"";
    EXPECT_EQ(response.headers.at("etag"), tag);
    const RawResponse head =
        client.request("HEAD /steps HTTP/1.1\r\nHost: localhost\r\n" + accept + "\r\n");
    EXPECT_EQ(head.headers.at("content-length"), std::to_string(response.body.size()));
    EXPECT_EQ(head.headers.at("etag"), tag);
    const int made = made_;
    EXPECT_EQ(client.request(get("/steps", accept + "If-None-Match: " + tag + "\r\n")).status, 304);
    EXPECT_EQ(made_, made);
  }
  RawClient old(port());
  const RawResponse response = old.request("GET /steps HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(response.body == text_);
  EXPECT_TRUE(old.is_closed_within());
  EXPECT_TRUE(eventually(
      [&] { return counters().large_bodies_bytes == 0 && counters().other_bodies_bytes == 0; }));
}

TEST_F(LargeBodies, TakeLittleMemoryWhileNobodyReadsThem) {
  ServerOptions options = test_options();
  options.large_bodies_bytes_max = 6 * kBodyBytes;
  serve(options);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 20; ++i) deaf.push_back(deaf_client("/steps?of=" + std::to_string(i)));
  ASSERT_TRUE(eventually([&] { return made_ == 20 && counters().requests_computing == 0; }));
  EXPECT_EQ(counters().requests_refused_busy, 0U);
  EXPECT_LT(counters().large_bodies_bytes, 20 * kBodyBytes / 2);
  EXPECT_LE(counters().other_bodies_bytes, 20 * PackedBody::kBlockBytes);
  EXPECT_GT(counters().other_bodies_bytes, 0U);
  const RawResponse slow = deaf.front()->read_response();
  EXPECT_TRUE(slow.body == text_) << "once it does read, it gets all of it";
  deaf.clear();
  EXPECT_TRUE(eventually(
      [&] { return counters().large_bodies_bytes == 0 && counters().other_bodies_bytes == 0; }));
}

TEST_F(LargeBodies, AreMadeOnceForAllWhoAskWhileOneIsHeld) {
  serve(test_options());
  std::vector<std::unique_ptr<RawClient>> deaf;
  deaf.push_back(deaf_client("/steps"));
  ASSERT_TRUE(eventually([&] { return made_ == 1 && counters().requests_computing == 0; }));
  const auto held = counters().large_bodies_bytes;
  EXPECT_GT(held, 0U);
  for (int i = 0; i < 5; ++i) deaf.push_back(deaf_client("/steps"));
  RawClient client(port());
  EXPECT_TRUE(client.request(get("/steps")).body == text_);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(counters().large_bodies_bytes, held);
  deaf.clear();
  ASSERT_TRUE(eventually([&] { return counters().large_bodies_bytes == 0; }));
  EXPECT_TRUE(client.request(get("/steps")).body == text_);
  EXPECT_EQ(made_, 2) << "nobody held it any more";
}

TEST_F(LargeBodies, AreRefusedWhereTheBlocksOfOthersFillTheRoom) {
  ServerOptions options = test_options();
  options.other_bodies_bytes_max = 2 * PackedBody::kBlockBytes;
  serve(options);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 2; ++i) {
    deaf.push_back(deaf_client("/steps"));
    ASSERT_TRUE(eventually(
        [&] { return counters().other_bodies_bytes == deaf.size() * PackedBody::kBlockBytes; }));
  }
  RawClient client(port());
  const RawResponse refusal = client.request(get("/steps"));
  EXPECT_EQ(refusal.status, 503);
  EXPECT_TRUE(refusal.headers.contains("retry-after"));
  EXPECT_EQ(client.request(get("/steps", "Accept-Encoding: zstd\r\n")).status, 200)
      << "needs no block";
}

TEST_F(LargeBodies, AreDroppedWithAClientThatDoesNotRead) {
  ServerOptions options = test_options();
  options.write_deadline = std::chrono::milliseconds(200);
  serve(options);
  const auto deaf = deaf_client("/steps");
  EXPECT_TRUE(eventually([&] {
    return counters().deadlines_missed == 1 && counters().connections_open == 0 &&
           counters().large_bodies_bytes == 0;
  }));
}

}  // namespace
}  // namespace llmb::http
