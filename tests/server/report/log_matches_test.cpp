#include "server/report/log_matches.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace llmb::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Gives a text in blocks of so many bytes; those of a gap are not there.
struct Text {
  std::string bytes;
  std::size_t block_bytes = 8;
  std::size_t gap_begin = 0;
  std::size_t gap_end = 0;

  LogBlock at(std::uint64_t offset) const {
    std::size_t begin = std::min<std::size_t>(offset, bytes.size());
    if (begin >= gap_begin && begin < gap_end) begin = gap_end;
    const std::string_view block = std::string_view(bytes).substr(begin, block_bytes);
    return {block, begin, begin + block.size() == bytes.size()};
  }
};

LogMatches found_in(const Text& text, const LinePattern& pattern, LogSearch search = {}) {
  if (search.lines_max == 0) search.lines_max = 100;
  if (!search.goes_on) search.goes_on = [] { return true; };
  return find_lines(pattern, search, [&](std::uint64_t offset) { return text.at(offset); });
}

std::vector<std::string> texts(const LogMatches& matches) {
  std::vector<std::string> texts;
  for (const LogLine& line : matches.lines) texts.push_back(line.text);
  return texts;
}

TEST(LogMatches, AreTheLinesThatHoldATextInAnyCase) {
  const Text text = {"one\nTwo (2)\r\nthree\rtwo (2) again\nfour", 16};
  const LogMatches matches = found_in(text, LinePattern::of_text("TWO (2)"));
  EXPECT_THAT(texts(matches), ElementsAre("Two (2)", "two (2) again"));
  EXPECT_EQ(matches.lines[0].offset, 4U);
  EXPECT_EQ(matches.lines[1].offset, 19U);
  EXPECT_EQ(matches.next_offset, std::nullopt);
  EXPECT_FALSE(matches.has_gaps);
  EXPECT_THAT(texts(found_in(text, LinePattern::of_text("FOUR"))), ElementsAre("four"));
  EXPECT_THAT(texts(found_in(text, LinePattern::of_text("five"))), IsEmpty());
  EXPECT_EQ(found_in({""}, LinePattern::of_text("five")).next_offset, std::nullopt);
}

TEST(LogMatches, AreFoundWhereverABlockEnds) {
  const std::string bytes = "a line\nanother line\r\nthe end\n";
  for (std::size_t block_bytes = 14; block_bytes <= bytes.size() + 1; ++block_bytes) {
    const LogMatches matches = found_in({bytes, block_bytes}, LinePattern::of_text("line"));
    EXPECT_THAT(texts(matches), ElementsAre("a line", "another line")) << block_bytes;
  }
}

TEST(LogMatches, AreInPartsOfALineThatIsLongerThanABlock) {
  const LogMatches matches = found_in({"0123456789 line\nline\n", 8}, LinePattern::of_text("line"));
  EXPECT_THAT(texts(matches), ElementsAre("89 line", "line"));
}

TEST(LogMatches, AreThoseOfARegularExpression) {
  const Text text = {"loss: 1.5\nloss: nan\nLoss: inf\n", 100};
  const auto pattern = LinePattern::of_expression("^loss: (nan|inf)$");
  ASSERT_TRUE(pattern);
  EXPECT_THAT(texts(found_in(text, *pattern)), ElementsAre("loss: nan"));
  const auto broken = LinePattern::of_expression("loss (");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("missing )"));
}

TEST(LogMatches, AreFoundInWhatColoursDivide) {
  const Text text = {"\x1b[31mERROR\x1b[0m: no space\n", 100};
  EXPECT_THAT(texts(found_in(text, LinePattern::of_text("error: no"))),
              ElementsAre("ERROR: no space"));
}

TEST(LogMatches, SayWhereToGoOn) {
  const Text text = {"a 1\nb\na 2\nb\na 3\n", 100};
  LogSearch search;
  search.lines_max = 1;
  std::vector<std::string> all;
  for (int i = 0; i < 3; ++i) {
    const LogMatches matches = found_in(text, LinePattern::of_text("a"), search);
    ASSERT_EQ(matches.lines.size(), 1U);
    all.push_back(matches.lines[0].text);
    ASSERT_EQ(matches.next_offset.has_value(), i < 2);
    search.from = matches.next_offset.value_or(0);
  }
  EXPECT_THAT(all, ElementsAre("a 1", "a 2", "a 3"));
}

TEST(LogMatches, AreLookedForInPartWhereTheirTimeIsUp) {
  Text text = {"", 1 << 20};
  for (int i = 0; i < 1'000; ++i) text.bytes += "line " + std::to_string(i) + "\n";
  LogSearch search;
  search.goes_on = [] { return false; };
  int questions = 0;
  for (bool is_over = false; !is_over; ++questions) {
    const LogMatches matches = found_in(text, LinePattern::of_text("line 999"), search);
    is_over = !matches.next_offset;
    EXPECT_EQ(matches.lines.size(), is_over ? 1U : 0U);
    ASSERT_LT(search.from, matches.next_offset.value_or(text.bytes.size())) << "it goes on";
    search.from = matches.next_offset.value_or(0);
  }
  EXPECT_EQ(questions, 4);
}

TEST(LogMatches, SayThatSomeOfTheTextIsNotThere) {
  const Text text = {"line 1\nline 2\nline 3\nline 4\n", 7, 7, 21};
  const LogMatches matches = found_in(text, LinePattern::of_text("line"));
  EXPECT_THAT(texts(matches), ElementsAre("line 1", "line 4"));
  EXPECT_TRUE(matches.has_gaps);
}

}  // namespace
}  // namespace llmb::report
