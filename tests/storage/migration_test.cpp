// Migrations: forward, one at a time, with a copy of what was there.
#include <gmock/gmock.h>

#include <filesystem>

#include "storage/schema.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using Mode = Connection::Mode;
using testing::HasSubstr;

constexpr Migration kFirst{
    "0001_a.sql",
    "CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT; INSERT INTO a VALUES (7);"
    "CREATE TABLE b (x INTEGER REFERENCES a (x)) STRICT;"
    "INSERT INTO b VALUES (7);"};
constexpr Migration kSecond{"0002_b.sql", "ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT 'y';"};
constexpr Migration kBroken{"0003_c.sql", "INSERT INTO a VALUES (8, 'z'); SELECT nonsense FROM;"};
constexpr Migration kDangling{"0003_d.sql", "DELETE FROM a;"};

TEST(Migrations, AreNumberedWithoutGaps) {
  const auto migrations = all_migrations();
  ASSERT_FALSE(migrations.empty());
  for (std::size_t i = 0; i < migrations.size(); ++i) {
    const std::string number = std::to_string(10'000 + i + 1).substr(1) + "_";
    EXPECT_EQ(migrations[i].name.substr(0, 5), number);
    EXPECT_FALSE(migrations[i].sql.empty());
  }
}

TEST(Migrations, AreAllEmbedded) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LLMB_SOURCE_DIR "/migrations")) {
    if (entry.path().extension() == ".sql") ++files;
  }
  EXPECT_EQ(all_migrations().size(), files);
}

TEST(Migrations, CopyExistingDataFirst) {
  const TemporaryDatabase database;
  Connection connection(database.path(), Mode::read_write);
  migrate(connection, std::vector{kFirst});
  const std::string copy = database.path() + ".before-schema-2";
  EXPECT_FALSE(std::filesystem::exists(copy));
  migrate(connection, std::vector{kFirst, kSecond});
  EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a WHERE x = 7 AND y = 'y'"), 1);
  EXPECT_EQ(connection.read_one_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(connection.read_one_integer("PRAGMA foreign_keys"), 1);

  Connection before(copy, Mode::read_only);
  EXPECT_EQ(before.read_one_integer("PRAGMA user_version"), 1);
  EXPECT_EQ(before.read_one_integer("SELECT x FROM a"), 7);
  EXPECT_EQ(before.read_one_integer("SELECT count(*) FROM pragma_table_info('a')"), 1);
  migrate(connection, std::vector{kFirst, kSecond});  // nothing to do: the copy stays as it was
  EXPECT_EQ(before.read_one_integer("PRAGMA user_version"), 1);
}

TEST(Migrations, LeaveNothingOfOneThatFails) {
  for (const Migration& bad : {kBroken, kDangling}) {
    const TemporaryDatabase database;
    {
      Connection connection(database.path(), Mode::read_write);
      migrate(connection, std::vector{kFirst});
      EXPECT_THROW(migrate(connection, std::vector{kFirst, kSecond, bad}), StorageError);
    }
    Connection connection(database.path(), Mode::read_write);
    EXPECT_EQ(connection.read_one_integer("PRAGMA user_version"), 2) << bad.name;
    EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a"), 1) << bad.name;
    EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a WHERE y = 'y'"), 1);
  }
}

TEST(Migrations, RefuseANewerSchemaUntouched) {
  const TemporaryDatabase database;
  Connection connection(database.path(), Mode::read_write);
  migrate(connection, std::vector{kFirst, kSecond});
  try {
    migrate(connection, std::vector{kFirst});
    FAIL();
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, StorageError::Kind::newer_schema);
    EXPECT_THAT(error.what(), HasSubstr("version 2"));
  }
  EXPECT_EQ(connection.read_one_integer("PRAGMA user_version"), 2);
}

}  // namespace
}  // namespace llmb::storage
