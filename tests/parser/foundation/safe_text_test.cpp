// Foreign text on its way to a terminal, a log or a csv file.
#include "parser/foundation/safe_text.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(SafeText, LeavesWhatCanBeRead) {
  for (const char* text : {"", "experiments/pretrain_grok1/log-acct_4711_0.out", "a b\\c \"d\" 'e'",
                           "Z\xc3\xbcrich", "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(safe_text(text), text);
  }
}

TEST(SafeText, EscapesWhatBeginsALineOrMovesACursor) {
  EXPECT_EQ(safe_text("a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
  EXPECT_EQ(safe_text("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(safe_text(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(safe_text("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "the one-byte escape of ISO 6429";
  EXPECT_EQ(safe_text("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "a line separator";
}

TEST(SafeText, EscapesWhatTurnsTheWritingDirection) {
  EXPECT_EQ(safe_text("a\xe2\x80\xaetuo.gol"), "a\\xe2\\x80\\xaetuo.gol");
  EXPECT_EQ(safe_text("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");
}

TEST(SafeText, EscapesBytesThatAreNoUtf8OneByOne) {
  EXPECT_EQ(safe_text("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(safe_text("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(safe_text("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(safe_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a surrogate pair";
  EXPECT_EQ(safe_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(safe_text("a\xe2\x82"), "a\\xe2\\x82") << "cut";
  EXPECT_EQ(safe_text("\xe2(\xa1"), "\\xe2(\\xa1");
}

TEST(SafeText, NeverGivesAControlByteWhateverComes) {
  std::string all;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      all += static_cast<char>(first);
      all += static_cast<char>(second);
    }
  }
  const std::string safe = safe_text(all);
  for (const char c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte >= 0x20 && byte != 0x7f) << static_cast<int>(byte);
  }
  EXPECT_EQ(safe_text(safe), safe) << "what is safe stays as it is";
}

}  // namespace
}  // namespace llmb::parser
