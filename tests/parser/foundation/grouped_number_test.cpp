#include "parser/foundation/grouped_number.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(GroupedNumber, HasItsDigitsInThrees) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(-1'234), "-1,234");
}

}  // namespace
}  // namespace llmb::parser
