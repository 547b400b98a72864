#include "server/http/conditional.h"

#include <gtest/gtest.h>

namespace llmb::http {
namespace {

TEST(MatchingEtag, ReadsListsWeakTagsAndTheStar) {
  EXPECT_EQ(matching_etag(R"("v1")", "v1"), R"("v1")");
  EXPECT_EQ(matching_etag(R"(W/"v1")", "v1"), R"("v1")");
  EXPECT_EQ(matching_etag(R"("a", "b,c" ,W/"v1", "d")", "v1"), R"("v1")");
  EXPECT_EQ(matching_etag("*", "v1"), R"("v1")");
  EXPECT_EQ(matching_etag(R"("b,c")", "b,c"), R"("b,c")");
}

TEST(MatchingEtag, KnowsTheTagsOfCompressedBodies) {
  EXPECT_EQ(matching_etag(R"("v1-gzip")", "v1"), R"("v1-gzip")");
  EXPECT_EQ(matching_etag(R"(W/"v1-zstd")", "v1"), R"("v1-zstd")");
  EXPECT_EQ(matching_etag(R"("v1-gzip")", "v1-gzip"), R"("v1-gzip")");
}

TEST(MatchingEtag, MatchesNothingElse) {
  for (const char* header : {"", " ", R"("v2")", "v1", R"("v1)", R"(v1")", R"("")", "W/", "W/v1",
                             R"("v1-br")", R"("V1")", R"(w/"v1")", ",,,"}) {
    EXPECT_EQ(matching_etag(header, "v1"), std::nullopt) << header;
  }
}

}  // namespace
}  // namespace llmb::http
