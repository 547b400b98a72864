#include "server/report/log_excerpt.h"

#include <gtest/gtest.h>

namespace llmb::report {
namespace {

std::vector<std::string> texts(const LogExcerpt& excerpt) {
  std::vector<std::string> texts;
  for (const LogLine& line : excerpt.lines) texts.push_back(line.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LogExcerpt, HoldsTheLineOfTheByteAndItsNeighbours) {
  const LogBlock block = {"one\ntwo\r\nthree\rfour\n", 0, true};
  const LogExcerpt excerpt = cut_excerpt(block, 5, 1, 1);
  EXPECT_EQ(texts(excerpt), (Texts{"one", "two", "three"}));
  EXPECT_EQ(excerpt.at, 1U);
  EXPECT_EQ(excerpt.lines[2].offset, 9U);
  EXPECT_EQ(excerpt.next_offset, 15U);
  EXPECT_EQ(texts(cut_excerpt(block, 3, 0, 0)), Texts{"one"});  // its newline is its own
  EXPECT_EQ(texts(cut_excerpt(block, 8, 0, 0)), Texts{"two"});
  EXPECT_EQ(texts(cut_excerpt(block, 99, 1, 5)), (Texts{"three", "four"}));
}

TEST(LogExcerpt, LeavesOutWhatTheBlockHoldsOnlyAPartOf) {
  const LogBlock block = {"ail of one\ntwo\nthree\nhead of", 100, false};
  const LogExcerpt excerpt = cut_excerpt(block, 112, 9, 9);
  EXPECT_EQ(texts(excerpt), (Texts{"two", "three"}));
  EXPECT_EQ(excerpt.next_offset, 121U);
  const LogExcerpt torn = cut_excerpt({"only a part", 100, false}, 105, 9, 9);
  ASSERT_EQ(torn.lines.size(), 1U);
  EXPECT_TRUE(torn.lines[0].is_cut);
  EXPECT_EQ(texts(cut_excerpt({"one\nlast", 0, true}, 0, 0, 9)), (Texts{"one", "last"}));
}

TEST(LogExcerpt, MakesForeignBytesSafe) {
  const std::string bytes =
      "\x1b[31mred\x1b[0m\ttab \x01 \xff \x1b]0;title\x07 gr\xc3\xbc\xc3\x9f\n";
  EXPECT_EQ(cut_excerpt({bytes, 0, true}, 0, 0, 0).lines[0].text,
            "red\ttab \\x01 \\xff \\x1b]0;title\\x07 gr\xc3\xbc\xc3\x9f");
}

TEST(LogExcerpt, CutsALongLineAtACharacter) {
  const std::string bytes = std::string(4'095, 'a') + "\xc3\xbc" + std::string(50, 'b') + "\n";
  const LogLine line = cut_excerpt({bytes, 0, true}, 0, 0, 0).lines[0];
  EXPECT_EQ(line.text, std::string(4'095, 'a'));
  EXPECT_TRUE(line.is_cut);
}

TEST(LogExcerpt, OfAnEmptyLogIsEmpty) {
  const LogExcerpt excerpt = cut_excerpt({"", 0, true}, 0, 5, 5);
  EXPECT_TRUE(excerpt.lines.empty());
  EXPECT_EQ(excerpt.next_offset, 0U);
}

}  // namespace
}  // namespace llmb::report
