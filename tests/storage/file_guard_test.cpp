// A database that is not, or no longer, the file that the writer means.
#include "storage/file_guard.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "storage/generation_rows.h"
#include "storage/job_store.h"
#include "tests/storage/execute_sql.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Kind = StorageError::Kind;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a commit fails with; fails the test when it does not.
StorageError commit_error(Writer& writer) {
  try {
    writer.upsert_root("/later", "");
  } catch (const StorageError& error) {
    return error;
  }
  ADD_FAILURE() << "the commit succeeded";
  return {Kind::io, ""};
}

TEST(ForeignDatabase, IsNotChangedByBeingRefused) {
  for (const char* journal : {"DELETE", "WAL"}) {
    const TemporaryDatabase database;
    execute_sql(database.path(), std::string("PRAGMA journal_mode = ") + journal +
                                     "; CREATE TABLE mine (x);"
                                     "INSERT INTO mine VALUES (1), (2)");
    const std::string before = bytes_of(database.path());
    EXPECT_THROW(Writer{database.options()}, StorageError);
    EXPECT_THROW(Reader{database.path()}, StorageError);
    EXPECT_THROW(JobStore{database.options()}, StorageError);
    EXPECT_EQ(bytes_of(database.path()), before) << journal;
    EXPECT_FALSE(fs::exists(database.path() + "-wal")) << journal;
  }
}

TEST(FileGuard, LetsCommitsPassWhileTheFileIsTheSame) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  const IngestBatch batch = make_batch(root, "a.out", 5'000);
  writer.commit({&batch, 1});
  EXPECT_NO_THROW(writer.check_file());
  execute_sql(database.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_NO_THROW(writer.check_file());
}

TEST(FileGuard, LetsCommitsPassWhereAnotherProgramVacuumedIt) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  for (int i = 0; i < 5; ++i) {
    IngestBatch batch = make_batch(root, "a.out", 5'000);
    batch.generation = i;
    writer.commit({&batch, 1});
  }
  execute_sql(database.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
  writer.check_file();
  const auto before = fs::file_size(database.path());
  execute_sql(database.path(), "DELETE FROM step_sample; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_LT(fs::file_size(database.path()), before);
  EXPECT_NO_THROW(writer.check_file());
}

TEST(FileGuard, StopsCommitsToAFileThatWasDeletedOrRenamedUntilItIsBack) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  writer.upsert_root("/logs", "");
  fs::rename(database.path(), database.path() + ".away");
  const StorageError error = commit_error(writer);
  EXPECT_EQ(error.kind, Kind::lost);
  EXPECT_THAT(error.what(), HasSubstr("deleted or renamed"));
  EXPECT_THAT(error.what(), HasSubstr(database.path()));
  fs::rename(database.path() + ".away", database.path());
  EXPECT_NO_THROW(writer.upsert_root("/later", ""));
}

TEST(FileGuard, StopsCommitsToAFileThatWasReplaced) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  writer.upsert_root("/logs", "");
  fs::copy_file(database.path(), database.path() + ".copy");
  fs::rename(database.path() + ".copy", database.path());
  EXPECT_THAT(commit_error(writer).what(), HasSubstr("replaced by another file"));
}

TEST(FileGuard, StopsCommitsToAFileThatWasTruncated) {
  for (const std::uint64_t left : {0U, 8'192U}) {
    const TemporaryDatabase database;
    Writer writer(database.options());
    writer.upsert_root("/logs", "");
    execute_sql(database.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    writer.check_file();
    fs::resize_file(database.path(), left);
    EXPECT_THAT(commit_error(writer).what(), HasSubstr("was cut from")) << left;
  }
}

TEST(FileGuard, StopsCommitsOfWhichTheLogWasTakenAway) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  writer.upsert_root("/logs", "");
  writer.check_file();
  fs::remove(database.path() + "-wal");
  EXPECT_THAT(commit_error(writer).what(), HasSubstr("write-ahead log"));
}

TEST(FileGuard, LosesNoJobSilently) {
  const TemporaryDatabase database;
  JobStore jobs(database.options());
  fs::remove(database.path());
  EXPECT_THROW(jobs.tokens(), StorageError);
}

TEST(WriterLock, HoldsThroughASecondNameOfTheSameFile) {
  const TemporaryDatabase database;
  const Writer writer(database.options());
  const std::string other = database.folder() + "/other.db";
  ASSERT_EQ(link(database.path().c_str(), other.c_str()), 0);
  try {
    const Writer second({other, false});
    FAIL() << "two writers";
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, Kind::busy_elsewhere) << error.what();
  }
}

TEST(WriterLock, HoldsWhereTheLockFileWasDeleted) {
  const TemporaryDatabase database;
  {
    const Writer writer(database.options());
    fs::remove(database.path() + ".lock");
    try {
      const Writer second(database.options());
      FAIL() << "two writers";
    } catch (const StorageError& error) {
      EXPECT_EQ(error.kind, Kind::busy_elsewhere) << error.what();
    }
  }
  EXPECT_NO_THROW(Writer{database.options()});
}

TEST(Generations, AreThinnedWithAllTheirRows) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  for (int i = 0; i < kSupersededKept + 3; ++i) {
    IngestBatch batch = make_batch(root, "a.out", i == 1 ? 0 : 20);
    batch.generation = i;
    batch.samples.resize(i == 1 ? 0 : 20);
    if (i != 1) batch.samples.front().extra_fields = {{"more", 1.0}};
    batch.profiles.emplace().push_back({"a.nsys-rep", 5, {}});
    writer.commit({&batch, 1});
  }
  const IngestBatch other = make_batch(root, "b.out", 20);
  writer.commit({&other, 1});
  RunQuery all;
  all.filter.include_superseded = true;
  Reader reader(database.path());
  const auto runs = reader.runs(all).runs;
  EXPECT_EQ(runs.size(), kSupersededKept + 2U);
  for (const RunRecord& run : runs) EXPECT_EQ(reader.steps(run.id).size(), 20U);
  EXPECT_EQ(reader.known_files().size(), 2U);
}

}  // namespace
}  // namespace llmb::storage
