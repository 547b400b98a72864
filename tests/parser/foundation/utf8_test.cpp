// Characters that are cut at the end of a text.
#include "parser/foundation/utf8.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(Utf8, KnowsWhatIsUnfinishedAtTheEnd) {
  EXPECT_EQ(unfinished_length(""), 0U);
  EXPECT_EQ(unfinished_length("a"), 0U);
  EXPECT_EQ(unfinished_length("a\xe2"), 1U);
  EXPECT_EQ(unfinished_length("a\xe2\x82"), 2U);
  EXPECT_EQ(unfinished_length("a\xe2\x82\xac"), 0U);
  EXPECT_EQ(unfinished_length("\xf0\x9f\x98"), 3U);
  EXPECT_EQ(unfinished_length("\xf0\x9f\x98\x80"), 0U);
}

TEST(Utf8, TakesWhatNoRestMakesACharacterForFinished) {
  EXPECT_EQ(unfinished_length("\x80\x80\x80"), 0U);
  EXPECT_EQ(unfinished_length("\xc1"), 0U);
  EXPECT_EQ(unfinished_length("\xff"), 0U);
}

}  // namespace
}  // namespace llmb::parser
