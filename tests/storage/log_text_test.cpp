// The text of pushed logs, in blocks: which are kept, and that they come back as they were.
#include <gmock/gmock.h>

#include "storage/database.h"
#include "storage/push_records.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr std::uint64_t kBlock = kLogBlockBytes;

class LogText : public testing::Test {
 protected:
  static constexpr std::uint64_t kBytesRead = 5'000;

  RunId tell(const std::string& path, std::int64_t generation = 1, std::int64_t revision = 1,
             std::uint64_t bytes_read = kBytesRead) {
    LogTelling log;
    log.root_path = "/lustre/w";
    log.run.relative_path = path;
    log.run.generation = generation;
    log.run.revision = revision;
    log.known_revision = revision == 2 ? 1 : 0;
    log.run.facts.bytes_read = bytes_read;
    log.run.first_seen_at = log.run.grown_at = "2026-01-02T03:04:05Z";
    log.head_hash = static_cast<std::uint64_t>(generation);
    log.head_length = 1024;
    return writer_.commit_pushed(sender_, {log}).at(0).run;
  }
  std::optional<std::uint64_t> send(const std::string& path, std::uint64_t first_byte,
                                    std::uint64_t byte_count, const std::string& packed,
                                    std::int64_t generation = 1) {
    const LogBlockTelling told{"/lustre/w", path, generation, {first_byte, byte_count, packed}};
    return writer_.commit_log_blocks(sender_, {&told, 1}).at(0);
  }
  std::vector<std::string> held(RunId run, std::uint64_t begin = 0,
                                std::uint64_t end = UINT64_MAX / 2) {
    std::vector<std::string> packed;
    for (const LogBlock& block : reader_.log_blocks(run, begin, end)) {
      packed.push_back(block.packed);
    }
    return packed;
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  Reader reader_{database_.path()};
  PushSender sender_{"store-1", "eos", *parser::parse_instant("2026-01-02T03:04:05Z")};
};

TEST_F(LogText, ComesBackAsItWas) {
  const RunId run = tell("a.out");
  std::string any_bytes;
  for (int value = 0; value < 256; ++value) any_bytes.push_back(static_cast<char>(value));
  EXPECT_EQ(reader_.log_text_end(run), 0U);
  EXPECT_THAT(send("a.out", 0, kBlock, any_bytes), Optional(kBlock));
  EXPECT_THAT(send("a.out", kBlock, 7, std::string("\\x00\0", 5)), Optional(kBlock + 7));
  EXPECT_EQ(reader_.log_text_end(run), kBlock + 7);
  EXPECT_THAT(held(run), ElementsAre(any_bytes, std::string("\\x00\0", 5)));
  EXPECT_THAT(held(run, kBlock, kBlock + 1), ElementsAre(std::string("\\x00\0", 5)));
  EXPECT_THAT(held(run, 5, kBlock), ElementsAre(any_bytes));
}

TEST_F(LogText, OfABlockTheLongerOneStays) {
  const RunId run = tell("a.out");
  send("a.out", 0, 10, "ten");
  EXPECT_THAT(send("a.out", 0, 30, "thirty"), Optional(30U));
  EXPECT_THAT(send("a.out", 0, 20, "late"), Optional(30U));
  EXPECT_THAT(held(run), ElementsAre("thirty"));
}

TEST_F(LogText, IsOfALogThatThisSenderTold) {
  const RunId run = tell("a.out");
  EXPECT_EQ(send("b.out", 0, 10, "no such log"), std::nullopt);
  EXPECT_EQ(send("a.out", 0, 10, "another generation", 2), std::nullopt);
  sender_.store_id = "store-2";
  EXPECT_EQ(send("a.out", 0, 10, "another's word"), std::nullopt);
  sender_ = {"store-1", "hgx", sender_.now};
  EXPECT_EQ(send("a.out", 0, 10, "another cluster"), std::nullopt);
  EXPECT_THAT(held(run), IsEmpty());
}

TEST_F(LogText, IsTakenFromAStoreThatToldTheSameToo) {
  const RunId run = tell("a.out");
  sender_.store_id = "store-2";
  EXPECT_EQ(tell("a.out", 1, 3), run);
  EXPECT_THAT(send("a.out", 0, 10, "ten"), Optional(10U));
  EXPECT_THAT(held(run), ElementsAre("ten"));
  EXPECT_EQ(reader_.held_logs("store-2", "eos", 0, 9).at(0).text_bytes, 10U);
  sender_.store_id = "store-1";
  EXPECT_EQ(tell("a.out", 1, 2, kBytesRead + 1), run);
  sender_.store_id = "store-2";
  EXPECT_EQ(send("a.out", 0, 20, "twenty"), std::nullopt) << "another has read more of it";
  sender_.store_id = "store-3";
  EXPECT_EQ(send("a.out", 0, 20, "twenty"), std::nullopt) << "it told nothing";
}

// Its log was written anew, with the same first kilobyte, while nobody watched.
TEST_F(LogText, OfARunThatAnotherStoreTookOverIsThatOnes) {
  const RunId run = tell("a.out");
  for (std::uint64_t block = 0; block < 3; ++block) send("a.out", block * kBlock, kBlock, "old");
  writer_.forget_push_agent("store-1");
  sender_.store_id = "store-2";
  ASSERT_EQ(tell("a.out", 1, 3, kBytesRead + 1), run);
  EXPECT_THAT(held(run), ElementsAre("old", "old", "old")) << "a store may send no text";
  EXPECT_THAT(send("a.out", 0, kBlock, "new"), Optional(kBlock)) << "it goes on from there";
  EXPECT_THAT(send("a.out", kBlock, kBlock, "new"), Optional(2 * kBlock));
  EXPECT_THAT(held(run), ElementsAre("new", "new", "old"));
}

TEST_F(LogText, OfALongLogTheMiddleGoes) {
  const RunId run = tell("a.out");
  constexpr std::uint64_t kLog = kLogHeadBytes + kLogTailBytes + 4 * kBlock + 100;
  for (std::uint64_t first = 0; first < kLog; first += kBlock) {
    send("a.out", first, std::min(kBlock, kLog - first), "b");
  }
  std::vector<std::uint64_t> gaps;
  std::uint64_t next = 0;
  for (const LogBlock& block : reader_.log_blocks(run, 0, kLog)) {
    if (block.first_byte != next) gaps.insert(gaps.end(), {next, block.first_byte});
    next = block.first_byte + block.byte_count;
  }
  EXPECT_THAT(gaps, ElementsAre(kLogHeadBytes, kLogHeadBytes + 4 * kBlock));
  const auto places = reader_.log_block_places(run);
  const auto blocks = reader_.log_blocks(run, 0, kLog);
  ASSERT_EQ(places.size(), blocks.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].first_byte, blocks[i].first_byte);
    EXPECT_EQ(places[i].byte_count, blocks[i].byte_count);
    EXPECT_EQ(places[i].packed_bytes, blocks[i].packed.size());
  }
  EXPECT_EQ(next, kLog);
}

TEST_F(LogText, GoesWithItsGeneration) {
  const RunId first = tell("a.out");
  send("a.out", 0, 10, "ten");
  for (int generation = 2; generation < 20; ++generation) tell("a.out", generation);
  EXPECT_EQ(reader_.run(first), std::nullopt);
  EXPECT_THAT(held(first), IsEmpty());
}

TEST_F(LogText, IsAmongWhatAnAgentComparesWith) {
  tell("a.out");
  tell("b.out");
  send("b.out", 0, 10, "ten");
  std::vector<std::uint64_t> ends;
  for (const HeldLog& log : reader_.held_logs("store-1", "eos", 0, 10)) {
    ends.push_back(log.text_bytes);
  }
  EXPECT_THAT(ends, ElementsAre(0U, 10U));
}

}  // namespace
}  // namespace llmb::storage
