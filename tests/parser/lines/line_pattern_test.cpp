#include "parser/lines/line_pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/literal_scanner.h"
#include "parser/lines/pattern_engines.h"

namespace llmb::parser {
namespace {

using namespace std::string_view_literals;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

struct Text {
  std::string head;
  std::string tail;
  std::vector<bool> hex;  // of the tail: any digit will do
};

// As plainly as can be.
bool is_like(std::string_view line, const Text& text) {
  const std::size_t others = text.head.size() + text.tail.size();
  if (line.size() <= others || line.size() > others + LinePattern::kDigitsMax) return false;
  if (!line.starts_with(text.head)) return false;
  std::string_view rest = line.substr(text.head.size());
  for (; rest.size() > text.tail.size(); rest.remove_prefix(1)) {
    if (!is_hex(rest.front())) return false;
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (text.hex[i] ? !is_hex(rest[i]) : rest[i] != text.tail[i]) return false;
  }
  return true;
}

bool engine_says(ScanEngine name, const LinePattern& pattern, std::string line) {
  const std::size_t length = line.size();
  line.append(LinePattern::kReach - length, '7');
  return with_pattern_engine(
      name, [&](const auto& engine) __attribute__((always_inline)) {
        return engine.are_like(pattern, line.data(), length);
      });
}

// Half of them are like their pattern; of the others one byte or the number of digits is not.
TEST(LinePattern, EveryEngineSaysWhatTheBytesSay) {
  std::mt19937 random(11);
  const auto some = [&](std::string_view of) { return of[random() % of.size()]; };
  int alike = 0;
  for (int round = 0; round < 8000; ++round) {
    Text text;
    for (std::size_t i = 1 + random() % LinePattern::kHeadBytesMax; i > 0; --i) {
      text.head += some("0aF x");
    }
    for (std::size_t i = 1 + random() % LinePattern::kTailBytesMax; i > 0; --i) {
      text.tail += some("0aF x");
    }
    text.hex.resize(text.tail.size());
    LinePattern pattern;
    ASSERT_TRUE(pattern.assign(text.head, text.tail));
    for (int i = 0; i < 2; ++i) {
      const std::size_t begin = random() % text.tail.size();
      const std::size_t count = random() % (text.tail.size() - begin + 1);
      pattern.allow_hex(begin, count);
      for (std::size_t k = begin; k < begin + count; ++k) text.hex[k] = true;
    }
    std::string line = text.head;
    for (std::size_t i = 1 + random() % LinePattern::kDigitsMax; i > 0; --i) {
      line += some("0123456789abcdef");
    }
    for (std::size_t i = 0; i < text.tail.size(); ++i) {
      line += text.hex[i] ? some("0123456789abcdef") : text.tail[i];
    }
    if (round % 4 == 0)
      line[random() % line.size()] = some("09af/:`gAF \n\r\x00\x01\x02\x80\xb0"sv);
    if (round % 4 == 1) line.insert(text.head.size(), random() % 20, '3');
    if (round % 8 == 2) line.erase(random() % line.size(), 1 + random() % 20);
    const bool expected = is_like(line, text);
    alike += expected ? 1 : 0;
    for (const ScanEngine engine : LiteralScanner::available_engines()) {
      ASSERT_EQ(engine_says(engine, pattern, line), expected)
          << engine_name(engine) << ", round " << round;
    }
  }
  EXPECT_GT(alike, 3000);
  EXPECT_LT(alike, 7000);
}

TEST(LinePattern, OfWhatItCannotHoldMatchesNothing) {
  LinePattern pattern;
  const auto matches = [&](std::string_view head, std::string_view tail) {
    bool any = false;
    for (const ScanEngine engine : LiteralScanner::available_engines()) {
      any = engine_says(engine, pattern, std::string(head) + "7" + std::string(tail)) || any;
    }
    return any;
  };
  EXPECT_FALSE(matches("", ""));
  const std::string head(LinePattern::kHeadBytesMax, 'x');
  const std::string tail(LinePattern::kTailBytesMax, 'y');
  EXPECT_TRUE(pattern.assign(head, tail));
  EXPECT_TRUE(matches(head, tail));
  EXPECT_FALSE(pattern.assign(head + "x", tail));
  EXPECT_FALSE(matches(head + "x", tail));
  EXPECT_FALSE(pattern.assign(head, tail + "y"));
  EXPECT_FALSE(matches(head, tail + "y"));
  EXPECT_FALSE(pattern.assign("", tail));
  EXPECT_FALSE(pattern.assign(head, ""));
  for (const char c : {'\x00', '\x01', '\x80', '\xff'}) {
    const std::string odd = "xx" + std::string(1, c) + "xx";
    EXPECT_FALSE(pattern.assign(odd, tail));
    EXPECT_FALSE(matches(odd, tail));
    EXPECT_FALSE(pattern.assign(head, odd));
    EXPECT_FALSE(matches(head, odd));
  }
  EXPECT_TRUE(pattern.assign("\x02 step\t", "\x1b[0m\x7f\r\n"));
}

TEST(LinePattern, EveryEngineFindsTheEndOfALineWithinItsWindow) {
  std::string bytes(LinePattern::kReach, 'x');
  for (const std::size_t end : {0U, 5U, 63U, 64U, 100U, 300U}) {
    bytes[end] = '\n';
    for (const ScanEngine name : LiteralScanner::available_engines()) {
      for (std::size_t from = end < 63 ? 0 : end - 63; from <= end; ++from) {
        const std::size_t length = with_pattern_engine(
            name, [&](const auto& engine) __attribute__((always_inline)) {
              return engine.line_length(bytes.data(), from);
            });
        ASSERT_EQ(length, end + 1) << engine_name(name) << " from " << from;
      }
    }
    bytes[end] = 'x';
  }
}

}  // namespace
}  // namespace llmb::parser
