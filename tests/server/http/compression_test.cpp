#include "server/http/compression.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "server/http/body_cache.h"
#include "tests/server/http/gunzip.h"

namespace llmb::http {
namespace {

TEST(Compression, GivesBackTheSameBytes) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 1000) + ",";
  for (const std::string& body : {std::string(), std::string("a"), text}) {
    for (const Effort effort : {Effort::once, Effort::kept, Effort::embedded}) {
      EXPECT_EQ(gunzip(compress(body, Encoding::gzip, effort), body.size()), body);
      const std::string packed = compress(body, Encoding::zstd, effort);
      std::string out(body.size(), '\0');
      EXPECT_EQ(ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()), body.size());
      EXPECT_EQ(out, body);
    }
  }
}

TEST(Decompression, TakesWholeFramesUpToItsBound) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 1000) + ",";
  for (const std::string& body : {std::string(), std::string("a"), text}) {
    const std::string packed = compress(body, Encoding::zstd, Effort::once);
    EXPECT_EQ(decompress_zstd(packed, body.size()), body);
    EXPECT_TRUE(body.empty() || !decompress_zstd(packed, body.size() - 1));
    EXPECT_FALSE(decompress_zstd(packed.substr(0, packed.size() - 1), body.size()));
    EXPECT_FALSE(decompress_zstd(packed + "x", body.size()));
  }
  EXPECT_FALSE(decompress_zstd("", 100));
  EXPECT_EQ(decompress_zstd("no zstd at all", 100).error(), ZstdError::damaged);
  // A few thousand bytes that would become 64 MiB are given up at the bound.
  const std::string zeros(std::size_t{64} << 20U, '\0');
  EXPECT_EQ(decompress_zstd(compress(zeros, Encoding::zstd, Effort::once), 1'000'000).error(),
            ZstdError::too_long);
}

TEST(Negotiation, WeighsWhatTheClientAccepts) {
  const auto choose = negotiate_encoding;
  EXPECT_EQ(choose(""), Encoding::identity);
  EXPECT_EQ(choose("br, deflate"), Encoding::identity);
  EXPECT_EQ(choose("gzip"), Encoding::gzip);
  EXPECT_EQ(choose("GZip"), Encoding::gzip);
  EXPECT_EQ(choose("x-gzip"), Encoding::gzip);
  EXPECT_EQ(choose("gzip, deflate, br, zstd"), Encoding::zstd);
  EXPECT_EQ(choose("zstd;q=0.5, gzip;q=0.8"), Encoding::gzip);
  EXPECT_EQ(choose("zstd; q=0.8 , gzip ; q=0.799"), Encoding::zstd);
  EXPECT_EQ(choose("gzip;q=0"), Encoding::identity);
  EXPECT_EQ(choose("*"), Encoding::zstd);
  EXPECT_EQ(choose("zstd;q=0, *;q=0.1"), Encoding::gzip);
  EXPECT_EQ(choose("*;q=0"), Encoding::identity);
  EXPECT_EQ(choose("gzip;q=abc"), Encoding::identity);
  EXPECT_EQ(choose("gzip;q=0.0001"), Encoding::identity);
  EXPECT_EQ(choose(",,;;q=,gzip;,"), Encoding::gzip);
}

TEST(Compressible, AreTextsAndNotImages) {
  for (const char* type : {"text/html; charset=utf-8", "application/json", "image/svg+xml",
                           "application/problem+json", "text/csv"}) {
    EXPECT_TRUE(is_compressible(type)) << type;
  }
  for (const char* type : {"image/png", "application/octet-stream", "font/woff2", ""}) {
    EXPECT_FALSE(is_compressible(type)) << type;
  }
}

TEST(BodyCache, ForgetsWhatWasNotAskedForLongest) {
  // With its key: 100 bytes.
  const Body body = {std::make_shared<const std::string>(99, 'x'), {{"Link", "<next>"}}};
  BodyCache cache(1000);
  for (const char key : std::string("abcdefghij")) cache.keep({key}, body);
  EXPECT_EQ(cache.bytes(), 1000U);
  EXPECT_NE(cache.find("a").bytes, nullptr);
  cache.keep("k", body);
  EXPECT_NE(cache.find("a").bytes, nullptr);
  EXPECT_EQ(cache.find("a").headers, body.headers);
  EXPECT_EQ(cache.find("b").bytes, nullptr);
  EXPECT_EQ(cache.bytes(), 1000U);
}

TEST(BodyCache, DoesNotKeepWhatWouldPushOutTooMuch) {
  BodyCache cache(800);
  cache.keep("a", {std::make_shared<const std::string>(100, 'x'), {}});
  EXPECT_EQ(cache.find("a").bytes, nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace llmb::http
