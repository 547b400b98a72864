// Opening and refusing a database, and what one commit means.
#include "storage/database.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "storage/local_disk.h"
#include "storage/sqlite_connection.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = StorageError::Kind;

// What opening a Writer on `options` is refused with; fails the test when it is not.
StorageError refusal(const OpenOptions& options) {
  try {
    const Writer writer(options);
  } catch (const StorageError& error) {
    return error;
  }
  ADD_FAILURE() << "opened " << options.path;
  return {Kind::io, ""};
}

StorageError reader_refusal(const std::string& path) {
  try {
    const Reader reader(path);
  } catch (const StorageError& error) {
    return error;
  }
  ADD_FAILURE() << "opened " << path;
  return {Kind::io, ""};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Writer, CreatesADatabaseThatSaysWhatItIs) {
  const TemporaryDatabase database;
  const Writer writer(database.options());
  SqliteConnection connection(database.path(), SqliteConnection::Mode::read_only);
  EXPECT_EQ(connection.read_one_integer("PRAGMA application_id"), 0x4C4C4D42);
  EXPECT_GE(connection.read_one_integer("PRAGMA user_version"), 1);
  EXPECT_EQ(connection.read_one_integer(
                "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND NOT strict"
                " AND type = 'table' AND name NOT LIKE 'sqlite_%'"),
            0);
}

TEST(Writer, RefusesASecondOneAndNamesTheProcess) {
  const TemporaryDatabase database;
  const Writer writer(database.options());
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::busy_elsewhere);
  EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(getpid())));
}

TEST(Writer, RefusesASecondOneThroughASymlink) {
  const TemporaryDatabase database;
  const Writer writer(database.options());
  const std::string link = database.folder() + "/link.db";
  ASSERT_EQ(symlink(database.path().c_str(), link.c_str()), 0);
  EXPECT_EQ(refusal({link, false}).kind, Kind::busy_elsewhere);
}

TEST(Writer, IsRefusedWhileAnotherProcessWritesAndLetInAfterwards) {
  const TemporaryDatabase database;
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready) + pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Writer writer(database.options());
    char byte = 'r';
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) _exit(1);
    _exit(0);  // without destructors, as a crash would
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::busy_elsewhere);
  EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(child)));
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NO_THROW(Writer{database.options()});
  for (const int descriptor : {ready[0], ready[1], done[0], done[1]}) close(descriptor);
}

TEST(Writer, RefusesANewerSchema) {
  const TemporaryDatabase database;
  { const Writer writer(database.options()); }
  SqliteConnection(database.path(), SqliteConnection::Mode::read_write)
      .execute("PRAGMA user_version = 99");
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::newer_schema);
  EXPECT_THAT(error.what(), HasSubstr("version 99"));
  EXPECT_EQ(reader_refusal(database.path()).kind, Kind::newer_schema);
}

TEST(Writer, RefusesTheDatabaseOfAnotherProgram) {
  const TemporaryDatabase database;
  SqliteConnection(database.path(), SqliteConnection::Mode::read_write)
      .execute("CREATE TABLE mine (x)");
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("another program"));
}

TEST(Writer, RefusesAFileThatIsNoDatabaseAndSaysWhatToDo) {
  const TemporaryDatabase database;
  write_file(database.path(), std::string(10'000, 'x'));
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("/llmb.db"));
  EXPECT_THAT(error.what(),
              HasSubstr("logs are read anew, but tokens, jobs, what was pruned and what "
                        "agents pushed are in no log"));
  EXPECT_EQ(reader_refusal(database.path()).kind, Kind::corrupt);
}

TEST(FileReader, AdvisesToMoveNothingWhereThePathIsOfNoDatabase) {
  const TemporaryDatabase database;
  for (const std::size_t bytes : {2U, 34U, 10'000U}) {
    write_file(database.path(), std::string(bytes, 'x'));
    EXPECT_THAT(reader_refusal(database.path()).what(),
                AllOf(HasSubstr("it is not a database of llmb-report"), Not(HasSubstr("mv "))));
  }
  const std::string folder = std::filesystem::path(database.path()).parent_path().string();
  EXPECT_THAT(reader_refusal(folder).what(), HasSubstr("it is a folder, not a database"));
}

TEST(FileReader, TellsADamagedDatabaseFromWhatIsNone) {
  const TemporaryDatabase database;
  { const Writer writer(database.options()); }
  {
    std::fstream file(database.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1'000);
    file << "overwritten";
  }
  EXPECT_THAT(reader_refusal(database.path()).what(), HasSubstr("The file is damaged. Move it"));
}

TEST(Writer, RefusesATruncatedDatabase) {
  const TemporaryDatabase database;
  {
    Writer writer(database.options());
    const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 2'000);
    writer.commit({&batch, 1});
  }
  std::filesystem::resize_file(database.path(), 8'192);
  const StorageError error = refusal(database.options());
  EXPECT_EQ(error.kind, Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("Move it away"));
}

TEST(Writer, RefusesADamagedPage) {
  const TemporaryDatabase database;
  {
    Writer writer(database.options());
    const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 2'000);
    writer.commit({&batch, 1});
  }
  const auto size = std::filesystem::file_size(database.path());
  {
    std::fstream file(database.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2 / 4096 * 4096));
    file << std::string(4'096, '\x5a');
  }
  EXPECT_EQ(refusal(database.options()).kind, Kind::corrupt);
}

TEST(Writer, WritesNothingMoreWhereTheDatabaseWentBack) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  for (int steps = 1; steps <= 3; ++steps) {
    const IngestBatch batch = make_batch(root, "a.out", steps);
    writer.commit({&batch, 1});
  }
  // As where a replica takes over that lacks the last change.
  execute_sql(database.path(), "UPDATE data_revision SET revision = revision - 1");
  const IngestBatch batch = make_batch(root, "a.out", 4);
  try {
    writer.commit({&batch, 1});
    FAIL() << "it was written";
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, StorageError::Kind::lost);
    EXPECT_THAT(error.what(), testing::HasSubstr("1 changes of runs that were stored"));
  }
  EXPECT_EQ(Reader(database.path()).totals().steps, 3);
  EXPECT_THROW(writer.commit({&batch, 1}), StorageError);
}

TEST(Writer, RefusesAFileSystemThatIsNotKnownToBeLocal) {
  if (!std::filesystem::exists("/proc/self")) GTEST_SKIP() << "no /proc";
  const StorageError error = refusal({"/proc/llmb.db", false});
  EXPECT_EQ(error.kind, Kind::not_local);
  EXPECT_THAT(error.what(), HasSubstr("local disk"));
}

TEST(LocalDisk, KnowsLocalFileSystemsAndNoOthers) {
  EXPECT_TRUE(is_local_file_system(0xEF53));       // ext4
  EXPECT_TRUE(is_local_file_system(0x9123683E));   // btrfs
  EXPECT_FALSE(is_local_file_system(0x6969));      // nfs
  EXPECT_FALSE(is_local_file_system(0x0BD00BD0));  // lustre
  EXPECT_FALSE(is_local_file_system(0xFF534D42));  // cifs
  EXPECT_FALSE(is_local_file_system(0x47504653));  // gpfs
  EXPECT_FALSE(is_local_file_system(0x65735546));  // fuse
}

TEST(Writer, SaysThatTheFolderIsMissing) {
  const TemporaryDatabase database;
  const StorageError error = refusal({database.folder() + "/missing/llmb.db", false});
  EXPECT_EQ(error.kind, Kind::io);
  EXPECT_THAT(error.what(), HasSubstr("/missing"));
}

TEST(Reader, SaysThatThereIsNoDatabase) {
  const TemporaryDatabase database;
  EXPECT_EQ(reader_refusal(database.path()).kind, Kind::io);
  EXPECT_FALSE(std::filesystem::exists(database.path()));
}

TEST(Writer, CommitsAllBatchesOrNone) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  const std::int64_t revision = Reader(database.path()).data_revision();
  std::vector<IngestBatch> batches = {make_batch(root, "a.out", 3), make_batch(99, "b.out", 3)};
  const auto refused_as = [&] {
    try {
      writer.commit(batches);  // there is no root 99
    } catch (const StorageError& error) {
      return error.kind;
    }
    return Kind::io;
  };
  EXPECT_EQ(refused_as(), Kind::constraint);
  Reader reader(database.path());
  EXPECT_EQ(reader.totals().runs, 0);
  EXPECT_EQ(reader.data_revision(), revision);
  batches[1].root_id = root;
  EXPECT_EQ(writer.commit(batches).size(), 2U);
  EXPECT_EQ(reader.totals().steps, 6);
  EXPECT_GT(reader.data_revision(), revision);
}

TEST(Writer, AHigherGenerationSupersedesTheLowerOnes) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  IngestBatch batch = make_batch(root, "a.out", 3);
  const RunId first = writer.commit({&batch, 1}).at(0);
  batch.generation = 2;
  const RunId second = writer.commit({&batch, 1}).at(0);
  batch.generation = 1;
  const RunId late = writer.commit({&batch, 1}).at(0);
  Reader reader(database.path());
  EXPECT_TRUE(reader.run(first)->is_superseded);
  EXPECT_FALSE(reader.run(second)->is_superseded);
  EXPECT_TRUE(reader.run(late)->is_superseded);
  EXPECT_EQ(reader.run_at(root, "a.out")->id, second);
  EXPECT_EQ(reader.superseding_run(first), second);
  EXPECT_EQ(reader.superseding_run(late), second);
  EXPECT_EQ(reader.superseding_run(second), std::nullopt);
  EXPECT_EQ(reader.run_count({}), 1);
  RunFilter all;
  all.include_superseded = true;
  EXPECT_EQ(reader.run_count(all), 3);
  EXPECT_EQ(reader.steps(first).size(), 3U);
  ASSERT_EQ(reader.known_files().size(), 1U);
  EXPECT_EQ(reader.known_files()[0].run, second);
}

TEST(Writer, GrowsARunOnlyWithNewBytes) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 3);
  const RunId run = writer.commit({&batch, 1}).at(0);
  Reader reader(database.path());
  const std::int64_t revision = *reader.run_revision(run);
  batch.observed_at = "2026-02-02T00:00:00Z";
  writer.commit({&batch, 1});
  EXPECT_EQ(reader.run(run)->grown_at, "2026-01-02T03:04:05Z");
  batch.size_bytes += 1;
  writer.commit({&batch, 1});
  EXPECT_EQ(reader.run(run)->grown_at, "2026-02-02T00:00:00Z");
  EXPECT_EQ(reader.run(run)->first_seen_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(*reader.run_revision(run), revision + 2);
}

TEST(Writer, ChangesAVerdictAndAConfigurationWithoutNewBytes) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 3);
  const RunId run = writer.commit({&batch, 1}).at(0);
  batch.samples.clear();
  batch.summary.status = parser::RunStatus::incomplete;
  writer.commit({&batch, 1});
  parser::RunConfiguration configuration;
  configuration.set("gpu_type", "gb200", parser::ConfigSource::llmb_config);
  configuration.set("gpu_count", "64", parser::ConfigSource::llmb_config);
  writer.update_configuration(run, configuration);
  Reader reader(database.path());
  EXPECT_EQ(reader.run(run)->summary, batch.summary);
  EXPECT_EQ(reader.run(run)->step_count, 3);
  EXPECT_EQ(reader.run(run)->configuration, configuration);
  EXPECT_EQ(reader.run(run)->revision, 3);
  RunFilter filter;
  filter.gpu_type = {"gb200"};
  filter.gpu_count = {64};
  EXPECT_EQ(reader.run_count(filter), 1);
  EXPECT_THROW(writer.update_configuration(run + 1, configuration), StorageError);
}

TEST(Writer, KeepsRootsScansAndParkedFiles) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "eos");
  EXPECT_EQ(writer.upsert_root("/logs", "eos"), root);
  EXPECT_NE(writer.upsert_root("/other", ""), root);
  writer.record_scan(root, "2026-01-01T00:00:00Z", 0.25, 17, "permission denied");
  const ParkedFile parked{
      root, "a.out", "it is a FIFO", "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z", 3};
  writer.park(parked);
  Reader reader(database.path());
  ASSERT_EQ(reader.roots().size(), 2U);
  EXPECT_EQ(reader.roots()[0].last_scan_at, "2026-01-01T00:00:00Z");
  EXPECT_EQ(reader.roots()[0].last_scan_s, 0.25);
  EXPECT_EQ(reader.roots()[0].files_seen, 17);
  EXPECT_EQ(reader.roots()[0].error, "permission denied");
  ASSERT_EQ(reader.parked_files().size(), 1U);
  EXPECT_EQ(reader.parked_files()[0].failures, 3);
  EXPECT_EQ(reader.totals().parked, 1);
  writer.unpark(root, "a.out");
  EXPECT_TRUE(reader.parked_files().empty());
}

TEST(Writer, RaisesTheDataRevisionOnlyWhenARunChanged) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 1);
  const RunId run = writer.commit({&batch, 1}).at(0);
  Reader reader(database.path());
  std::int64_t last = reader.data_revision();
  const auto rises = [&] {
    const std::int64_t before = last;
    last = reader.data_revision();
    return before < last;
  };

  writer.upsert_root("/logs", "");
  writer.record_scan(batch.root_id, "2026-01-01T00:00:00Z", 0.5, 1, "");
  writer.park({batch.root_id, "b.out", "why", "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z", 1});
  writer.unpark(batch.root_id, "b.out");
  writer.mark_vanished(batch.root_id, "never_seen.out", "2026-01-01T00:00:00Z");
  EXPECT_FALSE(rises());

  writer.upsert_root("/logs", "eos");
  EXPECT_TRUE(rises());
  writer.mark_vanished(batch.root_id, "a.out", "2026-01-01T00:00:00Z");
  EXPECT_TRUE(rises());
  writer.update_configuration(run, batch.configuration);
  EXPECT_TRUE(rises());
  writer.commit({&batch, 1});
  EXPECT_TRUE(rises());
}

TEST(Writer, RenamesTheClusterOfARootsRuns) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  IngestBatch batch = make_batch(root, "a.out");
  batch.configuration.set("cluster", "from_config", parser::ConfigSource::llmb_config);
  const RunId run = writer.commit({&batch, 1}).at(0);
  Reader reader(database.path());
  EXPECT_EQ(reader.run(run)->cluster, "from_config");
  writer.upsert_root("/logs", "eos");
  EXPECT_EQ(reader.run(run)->cluster, "eos");
  writer.upsert_root("/logs", "");
  EXPECT_EQ(reader.run(run)->cluster, "from_config");
}

TEST(Writer, MarksAVanishedFileUntilItIsBack) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 2);
  const RunId run = writer.commit({&batch, 1}).at(0);
  writer.mark_vanished(batch.root_id, "a.out", "2026-03-03T00:00:00Z");
  Reader reader(database.path());
  EXPECT_EQ(reader.run(run)->vanished_at, "2026-03-03T00:00:00Z");
  EXPECT_EQ(reader.steps(run).size(), 2U);
  writer.commit({&batch, 1});
  EXPECT_FALSE(reader.run(run)->vanished_at);
}

// A commit that writes about a megabyte.
void commit_a_megabyte(Writer& writer, IngestBatch& batch) {
  // Other bytes each time: SQLite writes no page anew that stays as it is.
  batch.cursor.parser_state.assign(1 << 20, batch.cursor.parser_state.starts_with('x') ? 'y' : 'x');
  writer.commit({&batch, 1});
}

TEST(Writer, BoundsItsWriteAheadLog) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  Reader reader(database.path());
  for (int i = 0; i < 100; ++i) {
    commit_a_megabyte(writer, batch);
    ASSERT_LT(reader.totals().wal_bytes, 84U << 20);
  }
}

TEST(Writer, CopiesItsWriteAheadLogWhereNobodyWaits) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  Reader reader(database.path());
  for (int i = 0; i < 100; ++i) {
    commit_a_megabyte(writer, batch);
    writer.use_rest();
    ASSERT_LT(reader.totals().wal_bytes, 52U << 20);
  }
}

TEST(Writer, EmptiesAWriteAheadLogThatALongReadLetGrow) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  Reader reader(database.path());
  {
    SqliteConnection connection(database.path(), SqliteConnection::Mode::read_only);
    const Transaction held(connection, Transaction::Kind::read);
    connection.read_one_integer("SELECT count(*) FROM run");
    for (int i = 0; i < 105; ++i) {
      commit_a_megabyte(writer, batch);
      writer.use_rest();
    }
    EXPECT_GT(reader.totals().wal_bytes, 96U << 20);
  }
  commit_a_megabyte(writer, batch);
  EXPECT_LT(reader.totals().wal_bytes, 4U << 20);
}

TEST(Reader, SeesOneInstantAndNeverBlocksTheWriter) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  Reader reader(database.path());
  for (int i = 0; i < 50; ++i) {
    const IngestBatch batch = make_batch(root, std::to_string(i), 2);
    writer.commit({&batch, 1});
    ASSERT_EQ(reader.run_count({}), i + 1);
  }
}

}  // namespace
}  // namespace llmb::storage
