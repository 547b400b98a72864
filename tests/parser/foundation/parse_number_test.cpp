#include "parser/foundation/parse_number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace llmb::parser {
namespace {

TEST(ParseInteger, ReadsWholeTextsOnly) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9'223'372'036'854'775'807);
  for (const char* text :
       {"", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "9223372036854775808", "-"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, HoldsToItsRange) {
  EXPECT_EQ(parse_integer("1", 1, 8), 1);
  EXPECT_EQ(parse_integer("8", 1, 8), 8);
  EXPECT_EQ(parse_integer("0", 1, 8), std::nullopt);
  EXPECT_EQ(parse_integer("9", 1, 8), std::nullopt);
}

TEST(ParseDigits, TakesNoSign) {
  EXPECT_EQ(parse_digits("007"), 7);
  EXPECT_EQ(parse_digits("999999999999999999"), 999'999'999'999'999'999);
  EXPECT_EQ(parse_digits("1000000000000000000"), std::nullopt);
  EXPECT_EQ(parse_digits("-7"), std::nullopt);
  EXPECT_EQ(parse_digits(""), std::nullopt);
}

TEST(ParseNumber, ReadsEveryTypeOfNumber) {
  EXPECT_EQ(parse_number<double>("-1.5e3"), -1500);
  EXPECT_TRUE(std::isnan(parse_number<double>("nan").value_or(0)));
  EXPECT_EQ(parse_number<double>("1.5x"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint16_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace llmb::parser
