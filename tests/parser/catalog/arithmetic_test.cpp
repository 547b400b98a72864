#include "parser/catalog/arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

PrintedNumber printed(const std::string& text) {
  return parse_printed_number(text).value();
}

TEST(PrintedNumber, KnowsItsLastDigit) {
  EXPECT_DOUBLE_EQ(printed("5.293").last_digit, 0.001);
  EXPECT_DOUBLE_EQ(printed("32.90").last_digit, 0.01);
  EXPECT_DOUBLE_EQ(printed("4.27E+15").last_digit, 1e13);
  EXPECT_DOUBLE_EQ(printed("434.5e12").last_digit, 1e11);
  EXPECT_DOUBLE_EQ(printed("434,526,299,070,464").value, 434526299070464.0);
  for (const char* wrong : {"", "-1", ".5", "1e", "12%", "0x10", "nan", "1e999", "1.2.3"}) {
    EXPECT_FALSE(parse_printed_number(wrong)) << wrong;
  }
}

TEST(Arithmetic, FollowsPrecedence) {
  EXPECT_DOUBLE_EQ(evaluate("1 + 2 * 3^2 - 8 / 4 / 2")->value, 18);
  EXPECT_DOUBLE_EQ(evaluate("12 * 64 * (6144)^2 * (1 + 8/48 + 8192/6144/2)")->value, 53150220288.0);
  for (const char* wrong : {"", "1 +", "(1", "1 / 0", "a", "1 2", "1)"}) {
    EXPECT_FALSE(evaluate(wrong)) << wrong;
  }
  EXPECT_THAT(evaluate("1 + x").error().message, testing::HasSubstr("at character 5"));
}

// Grok-1 2024: 4.27E+15 is printed with three digits; 39.3 % follows from some value of those.
TEST(Arithmetic, ExplainsRoundingAndNothingElse) {
  const auto exact = evaluate("4096 * 4.27E+15 / 22 / 2048 / 989E+12 * 100");
  EXPECT_FALSE(exact->value > 39.25);
  EXPECT_TRUE(evaluate("4096 * ~4.27E+15 / 22 / 2048 / 989E+12 * 100")->explains(printed("39.3")));
  EXPECT_FALSE(evaluate("4096 * ~4.27E+15 / 22 / 2048 / 989E+12 * 100")->explains(printed("39.6")));
  // 3095427.78 is printed as 3095427 in the Nemotron-4 table: cut off, not rounded.
  EXPECT_TRUE(evaluate("4096 * 2048 / 2.71")->explains(printed("3095427")));
  EXPECT_FALSE(evaluate("4096 * 2048 / 2.71")->explains(printed("3095426")));
  EXPECT_TRUE(evaluate("10 - ~0.5")->explains(printed("9.55")));
}

}  // namespace
}  // namespace llmb::parser
