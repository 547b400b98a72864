#include "parser/foundation/nearest_word.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(NearestWord, IsTheOneWithTheFewestChanges) {
  const std::vector<std::string> known = {"parse", "serve", "scaling"};
  EXPECT_EQ(nearest_word("prase", known), "parse");
  EXPECT_EQ(nearest_word("serv", known), "serve");
  EXPECT_EQ(nearest_word("scalling", known), "scaling");
  EXPECT_EQ(did_you_mean("prase", known), "; did you mean 'parse'?");
}

TEST(NearestWord, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest_word("xyz", {"parse"}), "");
  EXPECT_EQ(nearest_word("parse", {}), "");
  EXPECT_EQ(nearest_word(std::string(65, 'a'), {std::string(65, 'a')}), "");
  EXPECT_EQ(did_you_mean("xyz", {"parse"}), "");
}

}  // namespace
}  // namespace llmb::parser
