// Whoever may only read a closed database leaves nothing beside it, and needs nothing there.
#include "storage/still_database.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/database_check.h"
#include "storage/sqlite_connection.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr uid_t kNobody = 65534;

// Where the test runs as root, who may write everywhere, another user meanwhile.
class WithoutPrivileges {
 public:
  WithoutPrivileges() { EXPECT_TRUE(!is_root_ || seteuid(kNobody) == 0); }
  ~WithoutPrivileges() { EXPECT_TRUE(!is_root_ || seteuid(0) == 0); }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

 private:
  const bool is_root_ = geteuid() == 0;
};

class StillDatabase : public ::testing::Test {
 protected:
  StillDatabase() {
    fs::create_directory(folder_);
    add_run("a.out");
  }
  ~StillDatabase() override { fs::permissions(folder_, fs::perms(0755)); }

  void add_run(const std::string& log) const {
    Writer writer(OpenOptions{path_, false});
    const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), log, 50);
    writer.commit({&batch, 1});
  }
  // Who may not write the file, in a folder where everybody may make files, or nobody.
  void set_folder(int mode) const {
    fs::permissions(path_, fs::perms(0444));
    fs::permissions(folder_, fs::perms(mode));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  std::size_t runs_read() const { return Reader(path_).known_files().size(); }

  const TemporaryFolder outer_;
  const fs::path folder_ = outer_.path() / "its 100%? #1";
  const std::string path_ = (folder_ / "llmb.db").string();
};

TEST_F(StillDatabase, IsReadWhereNobodyMayMakeFiles) {
  fs::remove(path_ + ".lock");
  set_folder(0555);
  const WithoutPrivileges other;
  EXPECT_TRUE(still_state(path_).has_value());
  EXPECT_EQ(runs_read(), 1U);
  EXPECT_EQ(check_database(path_, CheckDepth::thorough).runs, 1);
  EXPECT_THAT(files(), ElementsAre("llmb.db"));
}

TEST_F(StillDatabase, KeepsItsOwnerNotOut) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to read as another user";
  set_folder(01777);
  {
    const WithoutPrivileges other;
    EXPECT_EQ(runs_read(), 1U);
    check_database(path_, CheckDepth::quick);
    EXPECT_THAT(files(), UnorderedElementsAre("llmb.db", "llmb.db.lock"));
  }
  add_run("b.out");
  EXPECT_EQ(runs_read(), 2U);
}

TEST_F(StillDatabase, IsReadFromItsLogWhileItsWriterLives) {
  Writer writer(OpenOptions{path_, false});
  const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "b.out", 50);
  writer.commit({&batch, 1});
  fs::permissions(folder_, fs::perms(0555));
  const WithoutPrivileges other;
  EXPECT_FALSE(still_state(path_).has_value());
  EXPECT_EQ(runs_read(), 2U);
}

TEST_F(StillDatabase, SaysThatItWasWrittenMeanwhile) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to write as another user";
  set_folder(0755);
  std::unique_ptr<SqliteConnection> reader;
  {
    const WithoutPrivileges other;
    reader = std::make_unique<SqliteConnection>(path_, SqliteConnection::Mode::read_only);
  }
  for (int i = 0; i < 64; ++i) add_run(std::to_string(i) + ".out");
  try {
    reader->read_one_integer("SELECT sum(length(relative_path)) FROM run");
    FAIL() << "it was read as if nothing had changed";
  } catch (const StorageError& refusal) {
    EXPECT_EQ(refusal.kind, StorageError::Kind::busy_elsewhere);
    EXPECT_THAT(refusal.what(), HasSubstr("another program began to write it"));
  }
}

// As a server has it that only reads.
TEST_F(StillDatabase, TellsALastingReaderToBeOpenedAnew) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to write as another user";
  set_folder(0755);
  std::unique_ptr<Reader> reader;
  {
    const WithoutPrivileges other;
    reader = std::make_unique<Reader>(path_);
    EXPECT_EQ(reader->known_files().size(), 1U);
    EXPECT_TRUE(reader->is_current());
  }
  Writer writer(OpenOptions{path_, false});
  const IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "b.out", 50);
  writer.commit({&batch, 1});
  const WithoutPrivileges other;
  EXPECT_FALSE(reader->is_current());
  EXPECT_EQ(runs_read(), 2U);
}

}  // namespace
}  // namespace llmb::storage
