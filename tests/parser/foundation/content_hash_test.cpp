#include "parser/foundation/content_hash.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(ContentHash, NeverChanges) {
  // These values are in users' databases.
  EXPECT_EQ(content_hash(""), 0xFDBDF6AC4FC52E7FULL);
  EXPECT_EQ(content_hash("Training epoch 0"), 0x4A7F406DF0DDBCB0ULL);
  EXPECT_NE(content_hash("a"), content_hash("b"));
}

TEST(Fnv1a, GivesThePublishedValues) {
  EXPECT_EQ(fnv1a(""), 0xCBF29CE484222325ULL);
  EXPECT_EQ(fnv1a("a"), 0xAF63DC4C8601EC8CULL);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171F73967E8ULL);
}

TEST(Fnv1a, OfPiecesIsThatOfTheWhole) {
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
}

}  // namespace
}  // namespace llmb::parser
