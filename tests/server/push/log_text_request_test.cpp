// Blocks of text as bytes and back: nothing is lost, and nothing else is understood.
#include "server/push/log_text_request.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "storage/packed_values.h"

namespace llmb::push {
namespace {

using storage::kLogBlockBytes;
using testing::HasSubstr;

const PushHead kHead{"eos", "store", "login1", "1.2", 7, "2026-01-02T03:04:05Z", "", false};

std::string lines(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += "step " + std::to_string(i) + "\0 of 50\n";
  text.resize(size);
  return text;
}

std::string request_of(const storage::LogBlock& block) {
  return packed_text_request(kHead, {{"/lustre/w", "log-\xff.out", 3, block}});
}
std::string complaint_of(const std::string& body) {
  try {
    unpack_text_request(body);
  } catch (const storage::BadField& error) {
    return error.what();
  }
  return "";
}

TEST(LogTextRequest, ComesBackAsItWas) {
  const std::string text = lines(kLogBlockBytes);
  const std::string body = request_of(packed_block(2 * kLogBlockBytes, text));
  EXPECT_LT(body.size(), text.size() / 5);
  const LogTextRequest back = unpack_text_request(body);
  EXPECT_EQ(back.head.store_id, "store");
  EXPECT_EQ(back.head.logs_pending, 7);
  ASSERT_EQ(back.blocks.size(), 1U);
  EXPECT_EQ(back.blocks[0].root_path, "/lustre/w");
  EXPECT_EQ(back.blocks[0].relative_path, "log-\xff.out");
  EXPECT_EQ(back.blocks[0].generation, 3);
  EXPECT_EQ(back.blocks[0].block.first_byte, 2 * kLogBlockBytes);
  EXPECT_EQ(unpacked_block(back.blocks[0].block), text);
}

TEST(LogTextRequest, RefusesBlocksThatAreNoneOfOurs) {
  const storage::LogBlock good = packed_block(0, lines(1'000));
  EXPECT_EQ(complaint_of(request_of(good)), "");
  storage::LogBlock displaced = good;
  displaced.first_byte = 1'000;
  storage::LogBlock longer = good;
  longer.byte_count = 1'001;
  storage::LogBlock empty = packed_block(0, "");
  storage::LogBlock no_zstd = good;
  no_zstd.packed = "text";
  const storage::LogBlock too_long = packed_block(0, lines(kLogBlockBytes + 1));
  for (const storage::LogBlock& block : {displaced, longer, empty, no_zstd, too_long}) {
    EXPECT_THAT(complaint_of(request_of(block)), HasSubstr("a block of the log's text"));
  }
  const std::vector<storage::LogBlockTelling> many(kTextBlocksMax + 1, {"/w", "a", 1, good});
  EXPECT_THAT(complaint_of(packed_text_request(kHead, many)), HasSubstr("at most 64"));
}

TEST(LogTextRequest, RefusesEveryCut) {
  const std::string body = request_of(packed_block(0, lines(500)));
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_NE(complaint_of(body.substr(0, size)), "") << size;
  }
  EXPECT_THAT(complaint_of(body + "x"), HasSubstr("the last of the body"));
  EXPECT_THAT(complaint_of("llmb-text 9 " + body.substr(12)), HasSubstr("versions"));
}

}  // namespace
}  // namespace llmb::push
