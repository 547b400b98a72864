// run_tally, which counts runs for the lists: it is what the runs themselves say, however they
// came, changed and went.
#include <gmock/gmock.h>

#include <random>

#include "storage/database_check.h"
#include "tests/storage/copied_databases.h"
#include "tests/storage/removal_fixture.h"

namespace llmb::storage {
namespace {

constexpr const char* kColumns =
    "is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,"
    " status, failure_cause, marks";

std::vector<std::string> lines_of(Connection& connection, const std::string& sql) {
  std::vector<std::string> lines;
  Statement select(connection, sql);
  while (select.step()) {
    std::string& line = lines.emplace_back();
    for (int i = 0; i < 13; ++i) {
      line += select.next_is_null() ? "NULL" : "'";
      line += select.read_text() + "|";
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_true_tally(const std::string& place) {
  const auto database = open_reader(place);
  Connection& connection = database->connection();
  const std::string columns = kColumns;
  const auto counted =
      lines_of(connection, "SELECT " + columns + ", count(*) FROM run GROUP BY " + columns);
  EXPECT_EQ(lines_of(connection, "SELECT " + columns + ", runs FROM run_tally"), counted);
  EXPECT_THAT(check_database(place, CheckDepth::thorough).wrong_tallies,
              testing::Optional(testing::IsEmpty()));
  EXPECT_GT(counted.size(), 3U);
}

IngestBatch changed_batch(RootId root, int number, int generation, std::mt19937& random) {
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  IngestBatch batch = make_batch(root, "run_" + std::to_string(number) + ".out", 1 + below(3));
  batch.generation = generation;
  batch.summary.status = static_cast<parser::RunStatus>(below(6));
  if (below(3) == 0) batch.summary.failure_cause = "cuda_oom";
  const auto choose = [&](const char* key, const char* text) {
    if (below(3) == 0) return;
    batch.configuration.set(key, text + std::to_string(below(2)), parser::ConfigSource::path);
  };
  choose("cluster", "");  // "0" is not 0, and "" no value
  choose("gpu_type", "b\"2'0,");
  choose("workload", "grok\x01\xff");
  choose("gpu_count", "1");
  if (below(4) == 0) batch.listed.marks = {parser::RunMark::traced};
  return batch;
}

TEST(RunTally, IsWhatTheRunsSay) {
  const TemporaryDatabase database;
  std::mt19937 random(7);  // NOLINT: the same in every test run, on purpose
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "eos");
  const RootId other = writer.upsert_root("/others", "");
  for (int round = 0; round < 6; ++round) {
    std::vector<IngestBatch> batches;
    batches.reserve(60);
    for (int i = 0; i < 60; ++i) {
      const int number = static_cast<int>(random() % 90);
      const int generation = static_cast<int>(random() % 2);
      batches.push_back(changed_batch(i % 5 == 0 ? other : root, number, generation, random));
    }
    writer.commit(batches);
    expect_true_tally(database.path());
  }
  RunQuery all;
  all.limit = 500;
  Reader reader(database.path());
  EXPECT_EQ(reader.run_count({}), static_cast<std::int64_t>(reader.runs(all).runs.size()));
}

class RunTallyOfACopy : public BothWays {};
INSTANTIATE_TEST_SUITE_P(Databases, RunTallyOfACopy, kEveryWay, name_of_way);

TEST_P(RunTallyOfACopy, IsTheSame) {
  std::mt19937 random(9);  // NOLINT
  {
    Writer writer(from_->options());
    const RootId root = writer.upsert_root("/logs", "eos");
    std::vector<IngestBatch> batches;
    batches.reserve(300);
    for (int i = 0; i < 300; ++i) batches.push_back(changed_batch(root, i, 0, random));
    writer.commit(batches);
  }
  copy_all(from_->path(), to_->options());
  expect_true_tally(from_->path());
  expect_true_tally(to_->path());
}

TEST(RunTally, LosesWhatIsRemoved) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  std::mt19937 random(11);  // NOLINT
  std::vector<IngestBatch> batches;
  batches.reserve(100);
  for (int i = 0; i < 100; ++i) {
    batches.push_back(changed_batch(root, i, 0, random));
    batches.back().observed_at = i % 2 == 0 ? "2024-03-01T00:00:00Z" : "2026-03-01T00:00:00Z";
    batches.back().summary.status =
        i % 3 == 0 ? parser::RunStatus::complete : parser::RunStatus::failed;
  }
  writer.commit(batches);
  EXPECT_EQ(remove_all(database.path(), writer, older_than_2025()).runs, 50);
  expect_true_tally(database.path());
  EXPECT_EQ(Reader(database.path()).run_count({}), 50);
}

}  // namespace
}  // namespace llmb::storage
