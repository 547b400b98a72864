// By which reading (parser/reader/reading.h) a run was told, in both engines.
#include "parser/reader/reading.h"

#include <gtest/gtest.h>

#include "storage/database.h"
#include "storage/database_check.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

TEST(Writer, KeepsByWhichReadingARunWasTold) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  IngestBatch batch = make_batch(root, "a.out", 3);
  const RunId run = writer.commit({&batch, 1}).at(0);
  Reader reader(database.path());
  EXPECT_EQ(reader.run(run)->reading, 0);
  batch.reading = 3;
  writer.commit({&batch, 1});
  EXPECT_EQ(reader.run(run)->reading, 3);
  batch.reading.reset();  // more of it was read, behind what that one told
  writer.commit({&batch, 1});
  EXPECT_EQ(reader.run(run)->reading, 3);
  EXPECT_EQ(reader.known_files(root).at(0).reading, 3);
}

TEST(Reader, CountsTheRunsThatAnEarlierReadingTold) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  for (const char* const log : {"a.out", "b.out", "gone.out", "now.out", "twice.out"}) {
    IngestBatch batch = make_batch(root, log, 3);
    if (batch.relative_path == "now.out") batch.reading = parser::kReading;
    writer.commit({&batch, 1});
  }
  writer.mark_vanished(root, "gone.out", "2026-02-02T00:00:00Z");
  IngestBatch second = make_batch(root, "twice.out", 3);
  second.generation += 1;
  second.reading = parser::kReading;
  writer.commit({&second, 1});
  const auto earlier = check_database(database.path(), CheckDepth::quick).earlier_readings;
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->watched, 2);
  EXPECT_EQ(earlier->pushed, 0);
}

}  // namespace
}  // namespace llmb::storage
