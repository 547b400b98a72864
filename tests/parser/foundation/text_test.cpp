#include "parser/foundation/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

using testing::ElementsAre;

TEST(Text, IsTrimmedAtBothEnds) {
  EXPECT_EQ(trimmed("\t a b  "), "a b");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("a\n"), "a\n");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
}

TEST(Text, IsSplitAtEverySeparator) {
  EXPECT_THAT(split("a__b", '_'), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("_", '_'), ElementsAre("", ""));
  EXPECT_THAT(split("", '_'), ElementsAre(""));
}

TEST(Text, IsComparedWithoutCase) {
  EXPECT_EQ(lower("GB200 \xc3\x84"), "gb200 \xc3\x84");
  EXPECT_TRUE(equal_but_for_case("BF16", "bf16"));
  EXPECT_FALSE(equal_but_for_case("bf16", "bf1"));
  EXPECT_FALSE(equal_but_for_case("[", "{"));
}

}  // namespace
}  // namespace llmb::parser
