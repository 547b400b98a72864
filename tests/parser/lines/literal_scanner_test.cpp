// LiteralScanner against the slow oracle: every engine that runs here, random and awkward sets.
#include "parser/lines/literal_scanner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>

#include "tests/parser/lines/slow_oracle.h"

namespace llmb::parser {
namespace {

using Engine = LiteralScanner::Engine;
using Literals = std::vector<std::string>;

// The block in memory of exactly its size and at a chosen alignment: a read past its end is one
// past an allocation, which AddressSanitizer sees.
class PlacedBlock {
 public:
  PlacedBlock(std::string_view bytes, std::size_t alignment)
      : size_(bytes.size()), skip_(alignment), memory_(new char[bytes.size() + alignment]) {
    std::memcpy(memory_.get() + skip_, bytes.data(), size_);
  }
  std::string_view view() const { return {memory_.get() + skip_, size_}; }

 private:
  std::size_t size_;
  std::size_t skip_;
  std::unique_ptr<char[]> memory_;
};

class EveryEngine : public testing::TestWithParam<Engine> {
 protected:
  // Walks over all occurrences, from each one's next byte on.
  void expect_same_hits(const Literals& literals, std::string_view block) const {
    const LiteralScanner scanner(literals, GetParam());
    std::size_t from = 0;
    while (from <= block.size() + 1) {
      const auto expected = oracle::find(literals, block, from);
      const auto found = scanner.find(block, from);
      ASSERT_EQ(expected.has_value(), found.has_value())
          << "from " << from << " of " << block.size();
      if (!expected) return;
      ASSERT_EQ(*expected, *found)
          << "expected at " << expected->position << " literal " << expected->literal
          << ", found at " << found->position << " literal " << found->literal;
      from = expected->position + 1;
    }
  }

  void expect_same_set(const Literals& literals, std::string_view block) const {
    const LiteralScanner scanner(literals, GetParam());
    LiteralSet found(literals.size());
    scanner.find_all(block, found);
    for (std::size_t i = 0; i < literals.size(); ++i) {
      const bool is_there = block.find(literals[i]) != std::string_view::npos;
      ASSERT_EQ(found.contains(i), is_there) << "literal " << i << " in " << block.size();
    }
    const std::size_t from = block.size() / 3;
    found.clear();
    scanner.find_all(block, found, from);
    for (std::size_t i = 0; i < literals.size(); ++i) {
      const bool is_there = block.find(literals[i], from) != std::string_view::npos;
      ASSERT_EQ(found.contains(i), is_there) << "literal " << i << " from " << from;
    }
  }
};

std::string random_bytes(std::mt19937& random, std::size_t length, std::string_view alphabet) {
  std::string bytes(length, '\0');
  for (char& byte : bytes) {
    byte = alphabet.empty() ? static_cast<char>(random() & 0xff)
                            : alphabet[random() % alphabet.size()];
  }
  return bytes;
}

constexpr std::string_view kAlphabets[] = {
    "ab", "abcdefgh", "\x01\x11\x21\xa1\xb1", std::string_view("a\0\xff\x80", 4), "",
};

TEST_P(EveryEngine, FindsWhatTheOracleFindsInRandomBlocks) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 800; ++round) {
    const std::string_view alphabet = kAlphabets[random() % std::size(kAlphabets)];
    Literals literals(1 + random() % (round % 10 == 0 ? 80 : 6));
    for (std::string& literal : literals) {
      literal = random_bytes(random, 1 + random() % (round % 3 == 0 ? 3 : 12), alphabet);
    }
    std::string block = random_bytes(random, random() % 400, alphabet);
    for (int planted = 0; planted < 3; ++planted) {
      const std::string& literal = literals[random() % literals.size()];
      if (literal.size() > block.size()) continue;
      block.replace(random() % (block.size() - literal.size() + 1), literal.size(), literal);
    }
    const PlacedBlock placed(block, random() % 64);
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(expect_same_hits(literals, placed.view()));
    ASSERT_NO_FATAL_FAILURE(expect_same_set(literals, placed.view()));
  }
}

// As the wanted literals are: hundreds of phrases of a few words, some short, that share most of
// their letters with each other and with the text.
TEST_P(EveryEngine, FindsWhatTheOracleFindsOfHundredsOfPhrases) {
  std::mt19937 random(20261123);
  const Literals words = {
      "error", "out of memory", "CUDA", "iteration", "checkpoint", ": ", "_",
      "rank",  "step",          "=",    "failed",    "Error",      " ",  "/s",
      "loss",  "[0]",           "tps",  "Exception", "\x80\xff",   "#",  "4096"};
  const auto phrase = [&](std::size_t word_count) {
    std::string text;
    for (std::size_t i = 0; i < word_count; ++i) text += words[random() % words.size()];
    return text;
  };
  for (int round = 0; round < 12; ++round) {
    Literals literals(40 + random() % 400);
    for (std::string& literal : literals) {
      literal = phrase(1 + random() % 4);
      // Often its beginning only, in some rounds down to one byte.
      const std::size_t kept = std::max<std::size_t>(round % 3 == 0 ? 1 : 4, random() % 20);
      if (random() % 4 == 0 && kept < literal.size()) literal.resize(kept);
    }
    std::string block;
    while (block.size() < 600) {
      std::string piece = random() % 3 == 0 ? literals[random() % literals.size()] : phrase(2);
      if (random() % 3 == 0) piece[random() % piece.size()] = static_cast<char>(random() & 0xff);
      block += piece;
    }
    block.resize(600 - random() % 70);
    const PlacedBlock placed(block, random() % 64);
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(expect_same_hits(literals, placed.view()));
    ASSERT_NO_FATAL_FAILURE(expect_same_set(literals, placed.view()));
  }
}

TEST_P(EveryEngine, FindsALiteralAtEveryPositionAlignmentAndBlockLength) {
  for (const std::string literal :
       {"T", "TF", "TFL", "TFLO", "TFLOP/s/GPU", "TFLOP/s/GPU of all"}) {
    const LiteralScanner scanner({"zzzz", literal}, GetParam());
    for (std::size_t length = literal.size(); length < 150; ++length) {
      const PlacedBlock blank(std::string(length, '.'), length % 33);
      ASSERT_FALSE(scanner.find(blank.view())) << length;
      for (std::size_t position = 0; position + literal.size() <= length; ++position) {
        std::string block(length, '.');
        block.replace(position, literal.size(), literal);
        const PlacedBlock placed(block, (position + length) % 37);
        const auto hit = scanner.find(placed.view());
        ASSERT_TRUE(hit) << literal << " at " << position << " of " << length;
        ASSERT_EQ(hit->position, position);
        ASSERT_EQ(hit->literal, 1U);
        ASSERT_TRUE(scanner.find(placed.view(), position));
        ASSERT_FALSE(scanner.find(placed.view(), position + 1));
        ASSERT_FALSE(scanner.find(placed.view().substr(0, position + literal.size() - 1)));
      }
    }
  }
}

TEST_P(EveryEngine, PrefersTheLowestPositionThenTheLowestLiteral) {
  const std::string block = "....abcdef....";
  EXPECT_EQ(LiteralScanner({"def", "abcdef"}, GetParam()).find(block), (LiteralScanner::Hit{4, 1}));
  EXPECT_EQ(LiteralScanner({"abcdef", "abc", "a"}, GetParam()).find(block),
            (LiteralScanner::Hit{4, 0}));
  EXPECT_EQ(LiteralScanner({"a", "abc", "abcdef"}, GetParam()).find(block),
            (LiteralScanner::Hit{4, 0}));
  EXPECT_EQ(LiteralScanner({"abc", "abc"}, GetParam()).find(block), (LiteralScanner::Hit{4, 0}));
  // The rare bytes of the long literal lie far behind those of the short one.
  EXPECT_EQ(LiteralScanner({"e e", "e e e e e e e e e e e e e e e QZX"}, GetParam())
                .find("..e e e e e e e e e e e e e e e QZX.."),
            (LiteralScanner::Hit{2, 0}));
  EXPECT_EQ(LiteralScanner({"QZX", "e e e e e e e e e e e e e e e QZX"}, GetParam())
                .find("..e e e e e e e e e e e e e e e QZX.."),
            (LiteralScanner::Hit{2, 1}));
}

TEST_P(EveryEngine, TellsEveryByteFromEveryOther) {
  std::string all(256, '\0');
  for (std::size_t value = 0; value < 256; ++value) all[value] = static_cast<char>(value);
  for (std::size_t value = 0; value < 256; ++value) {
    const LiteralScanner scanner({std::string(1, all[value])}, GetParam());
    const auto hit = scanner.find(all);
    ASSERT_TRUE(hit);
    ASSERT_EQ(hit->position, value);
    ASSERT_FALSE(scanner.find(all, value + 1));
  }
}

TEST_P(EveryEngine, KnowsNothingInEmptyBlocksAndPastTheEnd) {
  const LiteralScanner scanner({"x"}, GetParam());
  EXPECT_FALSE(scanner.find(""));
  EXPECT_FALSE(scanner.find(std::string_view()));
  EXPECT_FALSE(scanner.find("x", 1));
  EXPECT_FALSE(scanner.find("x", 100));
}

INSTANTIATE_TEST_SUITE_P(LiteralScanner, EveryEngine,
                         testing::ValuesIn(LiteralScanner::available_engines()),
                         [](const auto& engine) { return std::string(engine_name(engine.param)); });

TEST(LiteralScanner, OffersPortableEverywhereAndRefusesWhatIsMissing) {
  const auto engines = LiteralScanner::available_engines();
  ASSERT_FALSE(engines.empty());
  EXPECT_EQ(engines.front(), Engine::portable);
  for (const Engine engine :
       {Engine::portable, Engine::ssse3, Engine::avx2, Engine::avx512, Engine::neon}) {
    if (std::find(engines.begin(), engines.end(), engine) != engines.end()) {
      EXPECT_NO_THROW(LiteralScanner({"a"}, engine));
    } else {
      EXPECT_THROW(LiteralScanner({"a"}, engine), std::invalid_argument);
    }
  }
}

TEST(LiteralSet, IntersectsWhereBothHoldALiteral) {
  LiteralSet odd(150);
  for (std::size_t i = 1; i < 150; i += 2) odd.add(i);
  LiteralSet one(150);
  one.add(148);
  EXPECT_FALSE(odd.intersects(one));
  one.add(149);
  EXPECT_TRUE(odd.intersects(one));
  EXPECT_TRUE(one.contains(148) && one.contains(149) && !one.contains(147));
  one.add(3);
  std::vector<std::size_t> common;
  odd.for_each_common(one, [&](std::size_t literal) { common.push_back(literal); });
  EXPECT_EQ(common, (std::vector<std::size_t>{3, 149}));
  one.clear();
  EXPECT_FALSE(odd.intersects(one) || one.contains(149));
}

TEST(LiteralScanner, RefusesEmptySetsAndEmptyLiterals) {
  EXPECT_THROW(LiteralScanner(Literals{}), std::invalid_argument);
  EXPECT_THROW(LiteralScanner({"a", ""}), std::invalid_argument);
}

}  // namespace
}  // namespace llmb::parser
