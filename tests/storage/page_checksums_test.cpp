// A bit that changed on the disk is an error that says where, and never another value.
#include "storage/page_checksums.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "storage/database_check.h"
#include "storage/database_header.h"
#include "storage/job_store.h"
#include "storage/write_ahead_log.h"
#include "tests/storage/execute_sql.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// All that a reader gives of a database.
struct Contents {
  std::vector<parser::RunSummary> runs;
  std::vector<std::vector<parser::StepSample>> steps;
  bool operator==(const Contents&) const = default;
};

Contents read_all(const std::string& path) {
  Contents contents;
  Reader reader(path);
  for (const Reader::KnownFile& file : reader.known_files()) {
    contents.runs.push_back(reader.run(file.run).value().summary);
    contents.steps.push_back(reader.steps(file.run));
  }
  return contents;
}

class PageChecksums : public ::testing::Test {
 protected:
  // So many that most pages hold what readers give: an empty table has a page, too.
  static constexpr int kRuns = 48;

  PageChecksums() {
    Writer writer(database_.options());
    const RootId root = writer.upsert_root("/logs", "");
    for (int i = 0; i < kRuns; ++i) {
      const IngestBatch batch = make_batch(root, fmt::format("{}.out", i), 50);
      writer.commit({&batch, 1});
    }
  }
  void flip(std::uint64_t byte, int bit) const {
    std::fstream file(database_.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(byte));
    const int value = file.get() ^ (1 << bit);
    file.seekp(static_cast<std::streamoff>(byte));
    file.put(static_cast<char>(value));
  }
  bool is_found_damaged() const {
    try {
      return !check_database(database_.path(), CheckDepth::quick).damage.empty();
    } catch (const StorageError&) {
      return true;
    }
  }

  const TemporaryDatabase database_;
};

TEST_F(PageChecksums, NoChangedBitIsServedAsAnotherValue) {
  const Contents before = read_all(database_.path());
  ASSERT_EQ(before.runs.size(), std::size_t{kRuns});
  const std::uint64_t bytes = fs::file_size(database_.path());
  std::mt19937_64 random(20261122);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t byte = i < 100 ? static_cast<std::uint64_t>(i) : random() % bytes;
    const int bit = static_cast<int>(random() % 8);
    flip(byte, bit);
    try {
      EXPECT_TRUE(read_all(database_.path()) == before) << "byte " << byte << ", bit " << bit;
    } catch (const StorageError&) {
      ++refused;
    }
    // Of the header, counters are nobody's values, and a backup writes them.
    const bool is_counter = byte >= 24 && byte < 100;
    EXPECT_TRUE(is_counter || is_found_damaged()) << "byte " << byte << ", bit " << bit;
    flip(byte, bit);
  }
  EXPECT_GT(refused, 120);
  EXPECT_TRUE(read_all(database_.path()) == before);
  EXPECT_FALSE(is_found_damaged());
}

TEST_F(PageChecksums, SayWhichPageChanged) {
  flip(3 * 4096 + 4000, 2);
  EXPECT_THAT(check_database(database_.path(), CheckDepth::quick).damage,
              ::testing::Contains("page 4 (bytes 12288 to 16383) is not as llmb-report wrote it"));
  try {
    const Writer writer(database_.options());
    ADD_FAILURE() << "it was opened";
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, StorageError::Kind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr("Page 4: "));
  }
}

// As an earlier version made them.
TEST(DatabaseWithoutChecksums, IsReadAndWrittenAsItIs) {
  const TemporaryDatabase database;
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(database.path().c_str(), &connection), SQLITE_OK);
  const std::string sql =
      fmt::format("PRAGMA application_id = {}; CREATE TABLE t (x); DROP TABLE t", kApplicationId);
  ASSERT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(connection);
  {
    Writer writer(database.options());
    const RootId root = writer.upsert_root("/logs", "");
    const IngestBatch batch = make_batch(root, "a.out", 50);
    writer.commit({&batch, 1});
  }
  EXPECT_EQ(read_all(database.path()).steps.at(0).size(), 50U);
  const DatabaseCheck check = check_database(database.path(), CheckDepth::thorough);
  EXPECT_FALSE(check.has_page_checksums);
  EXPECT_TRUE(check.damage.empty());
  execute_sql(database.path(), "VACUUM");
  EXPECT_EQ(read_all(database.path()).steps.at(0).size(), 50U);
}

// A program that knows no checksums leaves none where it writes whole pages anew.
TEST_F(PageChecksums, AreMissedWhereAnotherProgramVacuumed) {
  const Contents before = read_all(database_.path());
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(database_.path().c_str(), &connection), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(connection, "VACUUM", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(connection);
  EXPECT_TRUE(read_all(database_.path()) == before);
}

// After a kill, the write-ahead log holds changed pages; whoever opens the file next copies them
// into it, and that may be a program which only wants to read.
TEST_F(PageChecksums, StayWholeWhereAnotherProgramRecoversTheFile) {
  const Contents before = read_all(database_.path());
  const std::string killed = database_.path() + ".killed";
  {
    Writer writer(database_.options());
    const RootId root = writer.upsert_root("/logs", "");
    const IngestBatch batch = make_batch(root, "new.out", 50);
    writer.commit({&batch, 1});
    fs::copy_file(database_.path(), killed);
    fs::copy_file(database_.path() + "-wal", killed + "-wal");
  }
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(killed.c_str(), &connection), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(connection, "SELECT count(*) FROM run", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(connection);
  ASSERT_FALSE(fs::exists(killed + "-wal")) << "it was copied into the file";
  EXPECT_EQ(read_all(killed).runs.size(), before.runs.size() + 1);
  EXPECT_TRUE(check_database(killed, CheckDepth::thorough).damage.empty());
}

// A loss of power while the write-ahead log is copied into the file: of each page that changed only
// a part arrived, and the log still has them all.
TEST_F(PageChecksums, AreNotMissedWhereACheckpointWasCutOff) {
  const std::string torn = database_.path() + ".torn";
  const std::string whole = database_.path() + ".whole";
  {
    Writer writer(database_.options());
    const RootId root = writer.upsert_root("/logs", "");
    for (const char* name : {"new.out", "newer.out"}) {
      const IngestBatch batch = make_batch(root, name, 50);
      writer.commit({&batch, 1});
    }
    for (const std::string& copy : {torn, whole}) {
      fs::copy_file(database_.path(), copy);
      fs::copy_file(database_.path() + "-wal", copy + "-wal");
    }
  }
  execute_sql(whole, "PRAGMA wal_checkpoint(TRUNCATE)");
  int torn_pages = 0;
  {
    std::ifstream after(whole, std::ios::binary);
    std::fstream file(torn, std::ios::in | std::ios::out | std::ios::binary);
    std::string before_bytes(4096, '\0');
    std::string after_bytes(4096, '\0');
    const std::uint64_t pages = fs::file_size(torn) / 4096;
    for (std::uint64_t page = 0; page < pages; ++page) {
      const auto at = static_cast<std::streamoff>(page * 4096);
      ASSERT_TRUE(file.seekg(at).read(before_bytes.data(), 4096));
      ASSERT_TRUE(after.seekg(at).read(after_bytes.data(), 4096));
      if (before_bytes == after_bytes) continue;
      // The sectors of a disk arrive in any order.
      ASSERT_TRUE(file.seekp(at + 2048).write(after_bytes.data() + 2048, 2048));
      ++torn_pages;
    }
  }
  ASSERT_GT(torn_pages, 1);
  EXPECT_THAT(check_database(torn, CheckDepth::thorough).damage, ::testing::IsEmpty());
  EXPECT_TRUE(read_all(torn) == read_all(whole));
  fs::remove(torn + "-wal");
  fs::remove(torn + "-shm");
  EXPECT_FALSE(check_database(torn, CheckDepth::thorough).damage.empty()) << "the log mended them";
}

TEST_F(PageChecksums, OfAPageThatTheWriteAheadLogDoesNotHoldAreMissedBesideOne) {
  Writer writer(database_.options());
  const RootId root = writer.upsert_root("/logs", "");
  const std::uint64_t pages = fs::file_size(database_.path()) / 4096;
  const auto logged = pages_in_write_ahead_log(database_.path() + "-wal");
  std::int64_t quiet = static_cast<std::int64_t>(pages);
  while (quiet > 1 && logged.contains(quiet)) --quiet;
  ASSERT_GT(quiet, 1);
  flip(static_cast<std::uint64_t>(quiet - 1) * 4096 + 17, 3);
  EXPECT_THAT(check_database(database_.path(), CheckDepth::quick).damage,
              ::testing::Contains(HasSubstr(fmt::format("page {} ", quiet))));
  EXPECT_GT(root, 0);
}

TEST_F(PageChecksums, StayWholeInABackupThatAnotherProgramMakes) {
  const std::string copy = database_.path() + ".copy";
  Writer writer(database_.options());
  const RootId root = writer.upsert_root("/logs", "");
  const IngestBatch batch = make_batch(root, "new.out", 50);
  writer.commit({&batch, 1});
  sqlite3* from = nullptr;
  sqlite3* to = nullptr;
  ASSERT_EQ(sqlite3_open(database_.path().c_str(), &from), SQLITE_OK);
  ASSERT_EQ(sqlite3_open(copy.c_str(), &to), SQLITE_OK);
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", from, "main");
  ASSERT_NE(backup, nullptr);
  EXPECT_EQ(sqlite3_backup_step(backup, -1), SQLITE_DONE);
  EXPECT_EQ(sqlite3_backup_finish(backup), SQLITE_OK);
  sqlite3_close(to);
  sqlite3_close(from);
  EXPECT_TRUE(read_all(copy) == read_all(database_.path()));
  EXPECT_TRUE(check_database(copy, CheckDepth::thorough).damage.empty());
}

}  // namespace
}  // namespace llmb::storage
