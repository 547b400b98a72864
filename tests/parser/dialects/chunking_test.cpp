// However a log's bytes are cut, samples and facts are the same.
#include <gtest/gtest.h>

#include <random>

#include "log_samples.h"

namespace llmb::parser {
namespace {

ParsedLog parse_in_chunks(std::string_view bytes, std::size_t chunk_max, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> size(1, chunk_max);
  LogReader reader;
  ParsedLog log;
  while (!bytes.empty()) {
    const std::size_t length = std::min(size(random), bytes.size());
    reader.feed(bytes.substr(0, length));
    if (random() % 3 == 0) merge_samples(log.samples, reader.take_samples());
    bytes.remove_prefix(length);
  }
  reader.finish();
  merge_samples(log.samples, reader.take_samples());
  log.facts = reader.facts();
  return log;
}

void expect_chunking_changes_nothing(const std::filesystem::path& path) {
  SCOPED_TRACE(path.filename().string());
  const std::string bytes = read_file(path);
  const std::string expected = to_json_text(parse_log(bytes));
  for (const std::size_t chunk_max : {7U, 100U, 5000U}) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      EXPECT_EQ(to_json_text(parse_in_chunks(bytes, chunk_max, seed)), expected);
    }
  }
}

TEST(Chunking, ChangesNothingInOwnLogs) {
  ASSERT_FALSE(own_logs().empty());
  for (const auto& path : own_logs()) expect_chunking_changes_nothing(path);
}

TEST(Chunking, ChangesNothingInRealLogs) {
  if (shared_logs().empty()) GTEST_SKIP() << "the shared collection of logs is not here";
  for (const auto& path : all_shared_logs()) expect_chunking_changes_nothing(path);
}

}  // namespace
}  // namespace llmb::parser
