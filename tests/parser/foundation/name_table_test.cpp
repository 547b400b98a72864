#include "parser/foundation/name_table.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

enum class Colour { red, green, blue };
constexpr auto kColours =
    name_table<Colour>({{Colour::red, "red"}, {Colour::green, "green"}, {Colour::blue, "blue"}});

TEST(NameTable, GivesNameAndValue) {
  static_assert(kColours.name(Colour::green) == "green");
  static_assert(kColours.value("blue") == Colour::blue);
  static_assert(kColours.size() == 3);
  EXPECT_EQ(kColours.value("Blue"), std::nullopt);
  EXPECT_EQ(kColours.value(""), std::nullopt);
}

TEST(NameTable, CallsAValueWithoutRowAsTheFirst) {
  EXPECT_EQ(kColours.name(static_cast<Colour>(17)), "red");
}

TEST(NameTable, ListsItsNames) {
  EXPECT_EQ(kColours.names(), "red, green, blue");
  EXPECT_EQ(kColours.names("|"), "red|green|blue");
}

}  // namespace
}  // namespace llmb::parser
