#include <gtest/gtest.h>

#include <string>

#include "parser/lines/log_content.h"
#include "parser/lines/typical_log_text.h"

namespace llmb::parser {
namespace {

using namespace std::string_view_literals;

LogContent content_of(std::string_view bytes) {
  LogContentProbe probe;
  probe.feed(bytes);
  return probe.content();
}

// The same, byte by byte.
LogContent content_of_pieces(std::string_view bytes) {
  LogContentProbe probe;
  for (const char& byte : bytes) probe.feed({&byte, 1});
  return probe.content();
}

std::string with_nuls(std::string_view ascii, bool before) {
  std::string text;
  for (const char c : ascii) {
    if (before) text += '\0';
    text += c;
    if (!before) text += '\0';
  }
  return text;
}

// A generator of its own, so that every machine has the same bytes.
std::string random_bytes(std::size_t count, std::uint32_t seed) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    bytes += static_cast<char>(seed >> 24U);
  }
  return bytes;
}

TEST(LogContent, IsTextWhereAProgramPrintsIt) {
  const std::string hole(4096, '\0');
  for (const std::string& log :
       {std::string(), std::string("7"), std::string(kTypicalLogText), hole, hole + "text\n",
        std::string("\xef\xbb\xbfTraining epoch 0\n"),                       // UTF-8's mark
        std::string("\x1b[32m100%|\u2588\u2588| 3/3\x1b[0m\r\b\b\a\t\f\n"),  // a terminal's
        std::string("\xb5\xda\xd2\xbb\xc5\xfa\xca\xfd\xbe\xdd\xd2\xd1\xb6\xc1\xc8\xeb\n")}) {
    EXPECT_EQ(content_of(log), LogContent::text) << log.substr(0, 40);
    EXPECT_EQ(content_of_pieces(log), LogContent::text) << log.substr(0, 40);
  }
}

TEST(LogContent, IsUtf16ByItsMarkOrItsNuls) {
  constexpr std::string_view kLine = "Training epoch 0, iteration 0/49\n";
  for (const std::string& log :
       {"\xff\xfe" + with_nuls(kLine, false), "\xfe\xff" + with_nuls(kLine, true),
        with_nuls(kLine, false), with_nuls(kLine, true)}) {
    EXPECT_EQ(content_of(log), LogContent::utf_16);
    EXPECT_EQ(content_of_pieces(log), LogContent::utf_16);
    EXPECT_EQ(content_of(std::string_view(log).substr(0, LogContentProbe::kUtf16Bytes)),
              LogContent::utf_16);
  }
}

TEST(LogContent, IsCompressedByWhatItBeginsWith) {
  for (const std::string_view begin :
       {"\x1f\x8b\x08\x08"sv, "\x28\xb5\x2f\xfd\x04"sv, "\xfd\x37\x7a\x58\x5a\x00"sv,
        "\x04\x22\x4d\x18\x64"sv, "PK\x03\x04\x14"sv, "BZh91AY&SY\x6b"sv}) {
    const std::string log = std::string(begin) + random_bytes(600, 1);
    EXPECT_EQ(content_of(log), LogContent::compressed);
    EXPECT_EQ(content_of_pieces(log), LogContent::compressed);
  }
  EXPECT_EQ(content_of("PKs of the table\n"), LogContent::text);
  EXPECT_EQ(content_of("BZh9 is where it begins\n"), LogContent::text);
}

TEST(LogContent, IsBinaryWhereNoProgramPrintsIt) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const std::string log = random_bytes(600, seed);
    EXPECT_EQ(content_of(log), LogContent::binary) << seed;
    EXPECT_EQ(content_of_pieces(log), LogContent::binary) << seed;
  }
}

TEST(LogContent, OfALogThatWasToldStays) {
  LogContentProbe probe(LogContent::compressed);
  probe.feed("Training epoch 0\n");
  EXPECT_EQ(probe.content(), LogContent::compressed);
  EXPECT_EQ(probe.bytes_to_utf_16(), 0U);
}

}  // namespace
}  // namespace llmb::parser
