#include "parser/dialects/leading_share.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(LeadingShare, IsACountAndHowFarItGoes) {
  for (const char* text :
       {"3/5", "3/5 opening a file", "3 / 5", "3 of 5", "3/5): failed", "3/5."}) {
    const auto share = leading_share(text);
    ASSERT_TRUE(share) << text;
    EXPECT_EQ(share->part, 3U) << text;
    EXPECT_EQ(share->whole, 5U) << text;
  }
}

TEST(LeadingShare, IsNoDatePathOrOtherNumber) {
  for (const char* text : {"", "3", "3 5", "3of 5", "of 5", " 3/5", "3/5/2025", "3/5-1", "3/5.5",
                           "3/", "3 of them", "3/1234567890123", "1234567890123/5", "-3/5"}) {
    EXPECT_FALSE(leading_share(text)) << text;
  }
}

}  // namespace
}  // namespace llmb::parser
