#include "parser/window.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(Window, ReadsARangeAndASingleIteration) {
  EXPECT_EQ(parse_window("11-44").value(), (Window{11, 44}));
  EXPECT_EQ(parse_window("7").value(), (Window{7, 7}));
  EXPECT_EQ(parse_window("0-0").value(), (Window{0, 0}));
  EXPECT_EQ(to_string(Window{11, 44}), "11-44");
  EXPECT_EQ(parse_window(to_string(Window{7, 7})).value(), (Window{7, 7}));
}

TEST(Window, RefusesWhatIsNoRangeAndSaysWhatIsAllowed) {
  for (const char* text :
       {"", "-", "44-11", "11-", "-44", "a-b", "11..44", "1-2-3", " 1-2", "+1-2"}) {
    const auto window = parse_window(text);
    ASSERT_FALSE(window) << text;
    EXPECT_NE(window.error().message.find("such as 11-44"), std::string::npos) << text;
  }
}

TEST(Window, SaysWhereAnIterationIsTooLarge) {
  for (const char* text : {"0-9223372036854775806", "99999999999999999999",
                           "99999999999999999999-1", "1000000000000000000-2"}) {
    const auto window = parse_window(text);
    ASSERT_FALSE(window) << text;
    EXPECT_NE(window.error().message.find("too large"), std::string::npos) << text;
  }
}

TEST(Window, DefaultsToWhatTheRecipesOfTheDialectUse) {
  EXPECT_EQ(default_window(Dialect::nemo), (Window{11, 44}));
  EXPECT_EQ(default_window(Dialect::nemo_progress_bar), (Window{11, 44}));
  EXPECT_EQ(default_window(Dialect::megatron_bridge), (Window{35, 44}));
  EXPECT_EQ(default_window(Dialect::megatron_lm), (Window{35, 44}));
}

TEST(Window, HoldsBothItsEnds) {
  const Window window{11, 44};
  EXPECT_TRUE(window.contains(11) && window.contains(44));
  EXPECT_FALSE(window.contains(10) || window.contains(45));
  EXPECT_EQ(window.size(), 34);
}

}  // namespace
}  // namespace llmb::parser
