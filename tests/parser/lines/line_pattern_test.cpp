#include "parser/lines/byte_pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/literal_scanner.h"

namespace llmb::parser {
namespace {

using namespace std::string_view_literals;
using Pattern = BytePattern<128>;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// As plainly as can be: `hex` says where any digit will do.
bool begins_with(std::string_view bytes, std::string_view text, const std::vector<bool>& hex) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (hex[i] ? !is_hex(bytes[i]) : bytes[i] != text[i]) return false;
  }
  return true;
}

TEST(BytePattern, EveryEngineSaysWhatTheBytesSay) {
  std::mt19937 random(11);
  constexpr std::string_view kOdd = "09af/:`gAF \n\r\t\x00\x01\x02\x7f\x80\xff\xb0"sv;
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 128; i > 0; --i) text += "0aF x"[random() % 5];
    Pattern pattern;
    ASSERT_TRUE(pattern.assign(text));
    std::vector<bool> hex(text.size());
    for (int i = 0; i < 2; ++i) {
      const std::size_t begin = random() % text.size();
      const std::size_t count = random() % (text.size() - begin + 1);
      pattern.allow_hex(begin, count);
      for (std::size_t k = begin; k < begin + count; ++k) hex[k] = true;
    }
    std::string bytes = text + std::string(128, kOdd[random() % kOdd.size()]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (hex[i]) bytes[i] = "0123456789abcdef"[random() % 16];
    }
    if (round % 2 == 0) bytes[random() % text.size()] = kOdd[random() % kOdd.size()];
    const bool expected = begins_with(bytes, text, hex);
    ASSERT_TRUE(expected || round % 2 == 0);
    for (const ScanEngine engine : LiteralScanner::available_engines()) {
      ASSERT_EQ(PatternMatcher(engine).matches(pattern, bytes.data()), expected)
          << engine_name(engine) << ", round " << round;
    }
  }
}

TEST(BytePattern, OfWhatItCannotHoldMatchesNothing) {
  std::string bytes(256, 'x');
  Pattern pattern;
  EXPECT_TRUE(pattern.assign(std::string(128, 'x')));
  EXPECT_TRUE(PatternMatcher().matches(pattern, bytes.data()));
  EXPECT_FALSE(pattern.assign(std::string(129, 'x')));
  EXPECT_FALSE(PatternMatcher().matches(pattern, bytes.data()));
  EXPECT_FALSE(pattern.assign(""));
  for (const char c : {'\x00', '\x01', '\x80', '\xff'}) {
    for (const std::size_t at : {0U, 7U, 8U, 17U}) {
      std::string text(18, 'x');
      text[at] = c;
      EXPECT_FALSE(can_be_pattern(text));
      EXPECT_FALSE(pattern.assign(text));
    }
  }
  EXPECT_TRUE(can_be_pattern("\x02 step\t1 of \x1b[0m\x7f\r\n"));
}

}  // namespace
}  // namespace llmb::parser
