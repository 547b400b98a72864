// What stands before a line, however the log is cut.
#include "parser/reader/recent_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace llmb::parser {
namespace {

std::string some_log(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += std::to_string(i) + std::string(i % 97, 'x') + "\n";
  }
  return text;
}

TEST(RecentBytes, AreTheLastOnesHoweverTheLogIsCut) {
  const std::string text = some_log(300);
  const auto expected = [&](std::size_t offset) {
    const std::size_t count = std::min(offset, RecentBytes::kBytesMax);
    return text.substr(offset - count, count);
  };
  for (const std::size_t size : {1UL, 7UL, 300UL, 2000UL, text.size()}) {
    RecentBytes recent;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const std::string_view block = std::string_view(text).substr(at, size);
      recent.begin_block(block);
      const std::size_t unfinished = at - std::min<std::size_t>(at, RecentBytes::kLineBytesMax);
      for (const std::size_t offset : {unfinished, at, at + block.size()}) {
        ASSERT_EQ(recent.before(offset), expected(offset)) << size << " " << at;
      }
      recent.end_block();
    }
  }
}

TEST(RecentBytes, GoOnInAnotherProcess) {
  const std::string text = some_log(60);
  const std::size_t half = text.size() / 2;
  RecentBytes first;
  first.begin_block(std::string_view(text).substr(0, half));
  first.end_block();
  RecentBytes second(half, first.before(half));
  second.begin_block(std::string_view(text).substr(half));
  EXPECT_EQ(second.before(half + 100),
            text.substr(half + 100 - RecentBytes::kBytesMax, RecentBytes::kBytesMax));
}

}  // namespace
}  // namespace llmb::parser
