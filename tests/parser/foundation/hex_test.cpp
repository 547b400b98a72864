#include "parser/foundation/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace llmb::parser {
namespace {

TEST(Hex, ValuesOfDigits) {
  for (int value = 0; value < 16; ++value) {
    EXPECT_EQ(hex_value(kHexDigits[static_cast<std::size_t>(value)]), value);
  }
  EXPECT_EQ(hex_value('A'), 10);
  EXPECT_EQ(hex_value('F'), 15);
  for (const char c : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\xff'})
    EXPECT_EQ(hex_value(c), -1);
}

TEST(Hex, TextOfBytes) {
  EXPECT_EQ(hex_text(std::array<unsigned char, 4>{0x00, 0x0f, 0xa5, 0xff}), "000fa5ff");
  EXPECT_EQ(hex_text(std::span<const unsigned char>()), "");
}

TEST(Hex, TextOfNumbersHasAllDigits) {
  EXPECT_EQ(hex_text(std::uint64_t{0}), "0000000000000000");
  EXPECT_EQ(hex_text(0x00FEDCBA98765432ULL), "00fedcba98765432");
}

}  // namespace
}  // namespace llmb::parser
