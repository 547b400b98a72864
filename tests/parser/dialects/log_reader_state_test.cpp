// A reader that is saved, destroyed and restored goes on as if nothing had happened: cut at every
// line's end and at random bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "log_samples.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kStateBytesMax = 32 * 1024;

// Reads up to `cut`, saves, restores in a new reader, and reads on from its offset.
ParsedLog parse_cut_at(std::string_view bytes, std::size_t cut) {
  ParsedLog log;
  std::string state;
  std::uint64_t offset = 0;
  {
    LogReader reader;
    reader.feed(bytes.substr(0, cut));
    merge_samples(log.samples, reader.take_samples());
    state = reader.save_state();
    offset = reader.committed_offset();
  }
  EXPECT_EQ(state.find('\n'), std::string::npos);
  EXPECT_LE(state.size(), kStateBytesMax);
  auto restored = LogReader::restore(state);
  if (!restored) {
    ADD_FAILURE() << restored.error().message;
    return log;
  }
  EXPECT_EQ(restored->save_state(), state);
  EXPECT_EQ(restored->committed_offset(), offset);
  restored->feed(bytes.substr(offset));
  restored->finish();
  merge_samples(log.samples, restored->take_samples());
  log.facts = restored->facts();
  return log;
}

// Restored at every line's end, one after the other: the chain of states must hold.
ParsedLog parse_line_by_line(std::string_view bytes) {
  ParsedLog log;
  std::string state = LogReader().save_state();
  std::size_t offset = 0;
  while (offset < bytes.size()) {
    auto reader = LogReader::restore(state);
    if (!reader) {
      ADD_FAILURE() << reader.error().message;
      return log;
    }
    const std::size_t end = std::min(bytes.find('\n', offset), bytes.size() - 1) + 1;
    reader->feed(bytes.substr(offset, end - offset));
    const bool is_last = end == bytes.size();
    if (is_last) reader->finish();
    merge_samples(log.samples, reader->take_samples());
    log.facts = reader->facts();
    if (is_last) break;
    state = reader->save_state();
    offset = reader->committed_offset();
  }
  return log;
}

void expect_restoring_changes_nothing(const std::filesystem::path& path) {
  SCOPED_TRACE(path.filename().string());
  const std::string bytes = read_file(path);
  const std::string expected = to_json_text(parse_log(bytes));
  EXPECT_EQ(to_json_text(parse_line_by_line(bytes)), expected);
  // Every line's end in small logs; in large ones those of a random tenth, to end in time.
  std::mt19937 random(11);
  const std::size_t one_of = bytes.size() / 4000 + 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '\n' && bytes[i] != '\r') continue;
    if (random() % one_of != 0) continue;
    ASSERT_EQ(to_json_text(parse_cut_at(bytes, i + 1)), expected) << "cut at " << i + 1;
  }
  std::uniform_int_distribution<std::size_t> position(0, bytes.size());
  for (int i = 0; i < 20; ++i) {
    const std::size_t cut = position(random);
    ASSERT_EQ(to_json_text(parse_cut_at(bytes, cut)), expected) << "cut at " << cut;
  }
}

TEST(LogReaderState, RestoringChangesNothingInOwnLogs) {
  ASSERT_FALSE(own_logs().empty());
  for (const auto& path : own_logs()) expect_restoring_changes_nothing(path);
}

TEST(LogReaderState, RestoringChangesNothingInRealLogs) {
  if (shared_logs().empty()) GTEST_SKIP() << "the shared collection of logs is not here";
  for (const auto& path : all_shared_logs()) expect_restoring_changes_nothing(path);
}

TEST(LogReaderState, WithinADroppedLineGoesOnDropping) {
  const std::string step = "Training epoch 0, iteration 1/9 | train_step_timing in s: 1.5\n";
  const std::string bytes = std::string(3 << 20, 'x') + step + step;
  const std::string expected = to_json_text(parse_log(bytes));
  const ParsedLog log = parse_cut_at(bytes, 2 << 20);
  EXPECT_EQ(to_json_text(log), expected);
  EXPECT_EQ(log.facts.lines_too_long, 1);
  EXPECT_EQ(log.samples.size(), 1U);
}

TEST(LogReader, KeepsTheFirstLinesThatItRefuses) {
  const std::string good = "completed step: 1, seconds: 7.1, TFLOP/s/device: 5.0, loss: 1.0\n";
  const std::string bad = "completed step: x, seconds: 7.1, TFLOP/s/device: 5.0, loss: 1.0\n";
  const std::string timeless = "completed step: 2, seconds: soon, TFLOP/s/device: 5.0\n";
  LogReader reader;
  reader.feed(good + timeless);
  for (std::size_t i = 0; i < kRefusedSamplesMax + 5; ++i) reader.feed(bad);
  reader.feed(std::string(3 << 20, 'x') + "\n");
  const auto refused = reader.refused_lines();
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[0].reason, LineRefusal::iteration_not_read);
  EXPECT_EQ(refused[0].count, static_cast<std::int64_t>(kRefusedSamplesMax + 5));
  ASSERT_EQ(refused[0].samples.size(), kRefusedSamplesMax);
  EXPECT_EQ(refused[0].samples[0].offset, good.size() + timeless.size());
  EXPECT_EQ(refused[0].samples[0].line + "\n", bad);
  EXPECT_EQ(refused[1].reason, LineRefusal::step_time_not_read);
  EXPECT_EQ(refused[1].count, 1);
  EXPECT_EQ(refused[1].samples[0].line + "\n", timeless);
  EXPECT_EQ(refused[2].reason, LineRefusal::too_long);
  EXPECT_EQ(refused[2].count, 1);
  EXPECT_THAT(refused[2].samples, ::testing::IsEmpty());
  EXPECT_EQ(reader.facts().lines_not_understood, refused[0].count + refused[1].count);
}

TEST(LogReaderState, OfAnotherVersionOrDamagedIsRefused) {
  LogReader reader;
  reader.feed("Training epoch 0, iteration 1/9 | train_step_timing in s: 1.5\n");
  const std::string state = reader.save_state();
  ASSERT_TRUE(LogReader::restore(state).has_value());
  EXPECT_FALSE(LogReader::restore("").has_value());
  EXPECT_FALSE(LogReader::restore("hello world").has_value());
  EXPECT_FALSE(LogReader::restore(state + " 1").has_value());
  for (std::size_t length = 0; length < state.size(); ++length) {
    LogReader::restore(state.substr(0, length));  // may fail, must not crash
  }
  EXPECT_FALSE(LogReader::restore(state.substr(0, state.size() - 2)).has_value());
}

}  // namespace
}  // namespace llmb::parser
