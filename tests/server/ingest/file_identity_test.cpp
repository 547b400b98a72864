#include "server/ingest/file_identity.h"

#include <fcntl.h>

#include "server/ingest/config_index.h"
#include "server/ingest/file_table.h"
#include "server/ingest/log_tail.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

class FileIdentityTest : public TreeTest {
 protected:
  parser::FileDescriptor open_log() const {
    return parser::FileDescriptor(::open(tree_path("log").c_str(), O_RDONLY | O_CLOEXEC));
  }
  storage::LogCursor cursor_at(std::uint64_t offset) const {
    storage::LogCursor cursor;
    cursor.offset = offset;
    EXPECT_TRUE(take_fingerprint(open_log().get(), cursor).has_value());
    return cursor;
  }
  Identity identity(const storage::LogCursor& cursor) const {
    return check_identity(open_log().get(), cursor).value();
  }
};

TEST_F(FileIdentityTest, HoldsWhileTheFileGrows) {
  write("log", std::string(5'000, 'a'));
  const auto cursor = cursor_at(4'000);
  EXPECT_EQ(cursor.head_length, kHeadLength);
  EXPECT_EQ(cursor.tail_length, kTailLength);
  append("log", std::string(5'000, 'b'));
  EXPECT_EQ(identity(cursor), Identity::same);
}

TEST_F(FileIdentityTest, SeesAnotherHeadAndAnotherTail) {
  write("log", std::string(5'000, 'a'));
  const auto cursor = cursor_at(4'000);
  write("log", "b" + std::string(4'999, 'a'));
  EXPECT_EQ(identity(cursor), Identity::rewritten);
  write("log", std::string(3'900, 'a') + "b" + std::string(1'099, 'a'));
  EXPECT_EQ(identity(cursor), Identity::rewritten);
}

TEST_F(FileIdentityTest, DoesNotTakeAShorterFileForARewrittenOne) {
  write("log", std::string(5'000, 'a'));
  const auto cursor = cursor_at(4'000);
  write("log", std::string(3'990, 'a'));
  EXPECT_EQ(identity(cursor), Identity::shorter);
  write("log", "");
  EXPECT_EQ(identity(cursor), Identity::shorter);
}

TEST_F(FileIdentityTest, ExtendsAShortHead) {
  write("log", "ab\n");
  auto cursor = cursor_at(3);
  EXPECT_EQ(cursor.head_length, 3U);
  append("log", std::string(2'000, 'c'));
  cursor.offset = 500;
  ASSERT_TRUE(take_fingerprint(open_log().get(), cursor).has_value());
  EXPECT_EQ(cursor.head_length, 500U);
  EXPECT_EQ(identity(cursor), Identity::same);
}

class LogTailTest : public FileIdentityTest {};

TEST_F(LogTailTest, EndsATickWithTheSlice) {
  write("log", nemo_lines(0, 5'000, 4'999));
  TailOptions options;
  options.bytes_max = 300'000;
  auto tail = LogTail::read(open_log().get(), std::nullopt, options);
  ASSERT_TRUE(tail.has_value());
  EXPECT_FALSE(tail->reached_end());
  EXPECT_LE(tail->read_to(), 600'000U);
  EXPECT_GT(tail->samples().size(), 100U);
  std::size_t samples = tail->samples().size();
  int ticks = 1;
  while (!tail->reached_end() && ticks < 100) {
    tail = LogTail::read(open_log().get(), tail->cursor(), options);
    ASSERT_TRUE(tail.has_value());
    EXPECT_EQ(tail->verdict(), LogTail::Verdict::same);
    samples += tail->samples().size();
    ++ticks;
  }
  EXPECT_GT(ticks, 2);
  EXPECT_EQ(samples, 5'000U);
}

TEST_F(LogTailTest, GoesPastTheSliceUntilALineIsComplete) {
  write("log", std::string(900'000, 'x') + "\n" + nemo_lines(0, 5));
  TailOptions options;
  options.bytes_max = 1'000;
  const auto tail = LogTail::read(open_log().get(), std::nullopt, options);
  ASSERT_TRUE(tail.has_value());
  EXPECT_GT(tail->cursor().offset, 900'000U);
}

TEST_F(LogTailTest, ReadsAnewWhatAnotherVersionLeft) {
  write("log", nemo_lines(0, 5));
  auto cursor = LogTail::read(open_log().get(), std::nullopt, {})->cursor();
  cursor.parser_state = "something else";
  auto tail = LogTail::read(open_log().get(), cursor, {});
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->verdict(), LogTail::Verdict::reread);
  EXPECT_EQ(tail->samples().size(), 5U);
}

TEST(TailState, ComesBackAsItWas) {
  const auto state = storage::decode_tail_state(storage::encode_tail_state({-5, 7, 9, "a b 3"}));
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->modified_us, -5);
  EXPECT_EQ(state->settled_size, 7U);
  EXPECT_EQ(state->content_hash, 9U);
  EXPECT_EQ(state->reader_state, "a b 3");
  for (const char* text : {"", "1", "1 ", "1 2", "x 2 y", "1 2 \"as before the hash\""}) {
    EXPECT_FALSE(storage::decode_tail_state(text)) << text;
  }
}

TEST(ConfigIndex, PrefersTheNearestOfTheSameJob) {
  ConfigIndex configs;
  EXPECT_TRUE(configs.note("llmb-config_7.yaml", 1, 1));
  EXPECT_TRUE(configs.note("e/l/llmb-config_7.yaml", 2, 1));
  EXPECT_TRUE(configs.note("e/l/llmb-config_8.yaml", 3, 1));
  EXPECT_FALSE(configs.note("e/l/llmb-config_8.yaml", 3, 1));
  EXPECT_TRUE(configs.note("e/l/llmb-config_8.yaml", 3, 2)) << "it changed";
  EXPECT_FALSE(configs.note("e/l/llmb-config_x.yaml", 4, 1));
  EXPECT_EQ(configs.config_for("e/l/e/log_7_0.out", 7), "e/l/llmb-config_7.yaml");
  EXPECT_EQ(configs.config_for("e/l2/e/log_7_0.out", 7), "llmb-config_7.yaml");
  EXPECT_EQ(configs.config_for("e/l2/log_8.out", 8), "");
  EXPECT_EQ(configs.config_for("e/l/log.out", std::nullopt), "") << "two are beside it";
}

TEST(ConfigIndex, TakesOneWithoutAJobForItsFolder) {
  ConfigIndex configs;
  EXPECT_TRUE(configs.note("a/llmb-config.yaml", 1, 1));
  EXPECT_FALSE(configs.note("a/llmb-config.yaml", 1, 1));
  EXPECT_TRUE(configs.note("a/llmb-config_7.yaml", 2, 1));
  EXPECT_TRUE(configs.note("b/llmb-config_8.yaml", 3, 1));
  EXPECT_EQ(configs.size(), 3U);
  EXPECT_EQ(configs.config_for("a/log.out", std::nullopt), "a/llmb-config.yaml");
  EXPECT_EQ(configs.config_for("a/log_7.out", 7), "a/llmb-config_7.yaml");
  EXPECT_EQ(configs.config_for("a/log_9.out", 9), "a/llmb-config.yaml");
  EXPECT_EQ(configs.config_for("b/log.out", std::nullopt), "b/llmb-config_8.yaml");
  EXPECT_EQ(configs.config_for("b/log_9.out", 9), "");
}

TEST(FileTable, GivesWhatIsDueInOrder) {
  FileTable files;
  const auto a = files.add("a");
  const auto b = files.add("b");
  const SteadyTime now{};
  files.schedule(a, now + std::chrono::seconds(2));
  files.schedule(b, now + std::chrono::seconds(1));
  files.schedule(a, now + std::chrono::seconds(3));
  EXPECT_EQ(files.next_due(), now + std::chrono::seconds(1));
  EXPECT_EQ(files.take_due(now), std::nullopt);
  EXPECT_EQ(files.take_due(now + std::chrono::seconds(2)), b);
  EXPECT_EQ(files.take_due(now + std::chrono::seconds(2)), std::nullopt);
  EXPECT_EQ(files.take_due(now + std::chrono::seconds(3)), a);
  EXPECT_EQ(files.find("b"), b);
  EXPECT_EQ(files.find("c"), std::nullopt);
}

}  // namespace
}  // namespace llmb::ingest
