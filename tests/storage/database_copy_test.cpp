// Copies of databases: every value of every table, what is refused, and what a copy that was begun
// goes on with.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>

#include "storage/database_check.h"
#include "storage/job_store.h"
#include "storage/push_store.h"
#include "storage/schema.h"
#include "tests/storage/copied_databases.h"

namespace llmb::storage {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class CopyEveryWay : public BothWays {};
INSTANTIATE_TEST_SUITE_P(Databases, CopyEveryWay, kEveryWay, name_of_way);

// Awkward ones, of the column's kind; distinct for each row where that has to be.
StoredValue value_of(const TableColumn& column, bool is_key, std::int64_t row) {
  static const std::vector<StoredValue> reals = {
      {}, -0.0, 0.1, std::numeric_limits<double>::infinity(), 5e-324, -1.7e308};
  static const std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(), -1,
                                                     0, std::numeric_limits<std::int64_t>::max()};
  static const std::vector<std::string> texts = {"",
                                                 "plain",
                                                 std::string("nul \0 one \x01 torn \xc3", 17),
                                                 "\xff\xfe",
                                                 "ünïcode 'x' \"?\"",
                                                 "\x01\x30\x30",
                                                 "tab\t, lines\r\n, \\N, \\. and \\"};
  const auto of = [row](const auto& list) {
    return list[static_cast<std::size_t>(row) % list.size()];
  };
  if (column.name == "run_id" || column.name == "root_id") return 1 + row % 3;
  if (column.name == "is_superseded") return row % 2;
  if (column.name == "parser_state") return std::string(200'000, 'x') + "\xff";
  switch (column.kind) {
    case ValueKind::integer:
      return is_key ? row + 1 : of(integers);
    case ValueKind::real:
      return of(reals);
    case ValueKind::text:
      return of(texts) + std::to_string(row);
    case ValueKind::bytes:
      return StoredBytes{std::string(static_cast<std::size_t>(row % 3) * 100'000, '\0') + "\xff'"};
  }
  return {};
}

// Rows in every table, whose values mean nothing; more than a page of steps.
void fill_every_table(const OpenOptions& options) {
  const auto database = open_writer(options);
  Connection& connection = database->connection();
  Transaction transaction(connection, Transaction::Kind::write);
  for (const StoredTable& table : kStoredTables) {
    if (table.name == "store" || table.name == "data_revision") continue;
    const TableLayout layout = read_layout(connection, table.name);
    std::int64_t count = 3;
    if (table.name == "removal_total") count = 1;
    if (layout.key_columns > 2) count = 2 * std::int64_t{RowPages::kRowsMax} + 7;
    if (table.name == "log_text") count = 2 * std::int64_t{RowPages::kRowsWithBytesMax} + 7;
    std::vector<StoredRow> rows;
    for (std::int64_t row = 0; row < count; ++row) {
      StoredRow& values = rows.emplace_back();
      for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        values.push_back(value_of(layout.columns[i], i < layout.key_columns, row));
      }
    }
    insert_rows(connection, insert_sql_of(layout), rows);
  }
  connection.execute("UPDATE run SET launched_at = NULL, gpu_count = NULL WHERE id = 2");
  connection.execute("UPDATE data_revision SET revision = 77");
  transaction.commit();
}

TEST_P(CopyEveryWay, HoldsEveryValueOfEveryTable) {
  fill_every_table(from_->options());
  copy_all(from_->path(), to_->options());
  for (const auto& [table, rows] : all_rows(to_->path())) EXPECT_GT(rows.size(), 0U) << table;
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, IsWrittenToAsAnyOtherDatabase) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 5);
  }
  copy_all(from_->path(), to_->options());
  for (const OpenOptions& options : {from_->options(), to_->options()}) {
    Writer writer(options);
    EXPECT_EQ(writer.upsert_root("/other", ""), 2);
    write_runs(writer, 3, 8);
    JobStore jobs(options);
    TokenRecord token;
    token.name = "ci";
    token.sha256 = "00";
    token.created_at = token.expires_at = "2026-01-02T03:04:05Z";
    EXPECT_EQ(jobs.insert_token(token), 1);
  }
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, IsOfOneInstantWhileTheDatabaseGrows) {
  Writer writer(from_->options());
  write_runs(writer, 0, kManyRuns);
  DatabaseCopy copy(from_->path(), to_->options());
  EXPECT_GT(copy.copy_some_runs(), 0);
  write_runs(writer, kManyRuns - 10, kManyRuns + 10);
  writer.mark_vanished(1, "run_3.out", "2026-02-03T04:05:06Z");
  EXPECT_THAT(copy_all(copy), ElementsAre());
  EXPECT_EQ(Reader(to_->path()).run_count({}), kManyRuns);
}

TEST_P(CopyEveryWay, GoesOnWithTheRunsThatHaveNotChanged) {
  Writer writer(from_->options());
  write_runs(writer, 0, kManyRuns);
  std::int64_t copied = 0;
  {
    DatabaseCopy copy(from_->path(), to_->options());
    EXPECT_FALSE(copy.was_begun());
    EXPECT_EQ(copy.runs().missing, kManyRuns);
    EXPECT_EQ(copy.runs().missing_steps, 2 * kManyRuns);
    copied = copy.copy_some_runs();
  }
  ASSERT_GT(copied, 100);
  ASSERT_LT(copied, kManyRuns);
  // One grows, one is marked, one loses its place to a newer generation; others come.
  IngestBatch grown = make_batch(1, "run_7.out", 9);
  IngestBatch anew = make_batch(1, "run_9.out", 4);
  anew.generation = 1;
  writer.commit(std::vector{grown, anew});
  writer.mark_vanished(1, "run_11.out", "2026-02-03T04:05:06Z");
  write_runs(writer, kManyRuns, kManyRuns + 20);
  writer.upsert_root("/second", "");

  DatabaseCopy copy(from_->path(), to_->options());
  EXPECT_TRUE(copy.was_begun());
  EXPECT_EQ(copy.runs().removed, 3);
  EXPECT_EQ(copy.runs().standing, copied - 3);
  EXPECT_EQ(copy.runs().missing, kManyRuns + 21 - (copied - 3));
  EXPECT_THAT(copy_all(copy), ElementsAre());
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, ARunThatIsGoneIsTakenOutOfABegunCopy) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
  }
  {
    DatabaseCopy copy(from_->path(), to_->options());
    EXPECT_EQ(copy.copy_some_runs(), 3);
    copy.copy_rest();
  }
  for (const char* const table : {"log_cursor", "step_sample", "run_settings"}) {
    execute_sql(from_->path(), std::string("DELETE FROM ") + table + " WHERE run_id IN (1, 3)");
  }
  execute_sql(from_->path(), "DELETE FROM run WHERE id IN (1, 3)");
  DatabaseCopy copy(from_->path(), to_->options());
  EXPECT_EQ(copy.runs().removed, 2);
  EXPECT_THAT(copy_all(copy), ElementsAre());
  expect_same_rows(from_->path(), to_->path());
}

// Blocks of a log's text come without a new revision of the run.
TEST_P(CopyEveryWay, TextThatCameSinceIsCopied) {
  Writer writer(from_->options());
  write_runs(writer, 0, 3);
  const bool is_server = is_postgresql(from_->path());
  for (const auto& [sqlite, postgresql] :
       {std::pair("3, x'00ff01'", "3, '\\x00ff01'"), std::pair("4, x'0102'", "4, '\\x0102'")}) {
    {
      DatabaseCopy copy(from_->path(), to_->options());
      while (copy.copy_some_runs() > 0) {
      }
    }
    execute_sql(from_->path(),
                "INSERT INTO log_text (run_id, first_byte, byte_count, packed) VALUES (2, 0, " +
                    std::string(is_server ? postgresql : sqlite) +
                    ") ON CONFLICT (run_id, first_byte) DO UPDATE"
                    " SET byte_count = excluded.byte_count, packed = excluded.packed");
    DatabaseCopy copy(from_->path(), to_->options());
    EXPECT_EQ(copy.runs().removed, 1);
    EXPECT_EQ(copy.runs().standing, 2);
    EXPECT_EQ(copy.copy_some_runs(), 1);
  }
  copy_all(from_->path(), to_->options());
  expect_same_rows(from_->path(), to_->path());
}

// So do the steps of a log that settled.
TEST_P(CopyEveryWay, StepsThatWerePackedSinceAreCopied) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
    IngestBatch ended = make_batch(1, "ended.out", 70);
    ended.summary.status = parser::RunStatus::complete;
    writer.commit({&ended, 1});
  }
  {
    DatabaseCopy copy(from_->path(), to_->options());
    while (copy.copy_some_runs() > 0) {
    }
  }
  { const Writer packs_what_has_ended(from_->options()); }
  DatabaseCopy copy(from_->path(), to_->options());
  EXPECT_EQ(copy.runs().removed, 1);
  EXPECT_EQ(copy.runs().standing, 3);
  EXPECT_THAT(copy_all(copy), ElementsAre());
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, PathsMayHaveMovedBetweenRoots) {
  {
    Writer writer(from_->options());
    writer.upsert_root("/a", "");
    writer.upsert_root("/b", "");
    DatabaseCopy copy(from_->path(), to_->options());
  }
  execute_sql(from_->path(), "UPDATE root SET path = '/c' WHERE path = '/a'");
  execute_sql(from_->path(), "UPDATE root SET path = '/a' WHERE path = '/b'");
  execute_sql(from_->path(), "UPDATE root SET path = '/b' WHERE path = '/c'");
  copy_all(from_->path(), to_->options());
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, NamesTheTableThatDiffers) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
  }
  DatabaseCopy copy(from_->path(), to_->options());
  copy.copy_some_runs();
  execute_sql(to_->path(),
              "UPDATE step_sample SET step_time_s = 1.25000000001"
              " WHERE run_id = 2 AND iteration = 1");
  EXPECT_THAT(copy_all(copy), ElementsAre("step_sample"));
}

// What is said by whatever `open` throws.
template <typename Open>
std::string refusal(const Open& open) {
  try {
    open();
  } catch (const StorageError& error) {
    return error.what();
  }
  return "it was opened";
}

std::string refusal_of(const std::string& from, const std::string& to) {
  return refusal([&] { DatabaseCopy(from, {to, true}); });
}

TEST_P(CopyEveryWay, NothingElseOpensTheHalf) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
  }
  { DatabaseCopy copy(from_->path(), to_->options()); }
  const std::string to = to_->path();
  const auto says_how_to_go_on =
      AllOf(HasSubstr("is being copied into it, and that is not done"),
            HasSubstr("llmb-report copy-db " + shown_place(from_->path()) + " " + shown_place(to)));
  EXPECT_THAT(refusal([&] { Reader reader(to); }), says_how_to_go_on);
  EXPECT_THAT(refusal([&] { Writer writer(to_->options()); }), says_how_to_go_on);
  EXPECT_THAT(refusal([&] { JobStore store(to_->options()); }), says_how_to_go_on);
  EXPECT_THAT(refusal([&] { check_database(to, CheckDepth::quick); }), says_how_to_go_on);
  if (!is_postgresql(to)) {
    EXPECT_THAT(refusal([&] { PushStore store(to); }), says_how_to_go_on);
  }
  const NewPlace third(Engine::sqlite);
  EXPECT_THAT(refusal_of(to, third.path()), says_how_to_go_on);
  EXPECT_FALSE(fs::exists(third.path()));
  DatabaseCopy copy(from_->path(), to_->options());
  EXPECT_THAT(refusal([&] { JobStore store(to_->options()); }), says_how_to_go_on) << "or goes on";
  EXPECT_THAT(copy_all(copy), ElementsAre());
  EXPECT_EQ(Reader(to).run_count({}), 3);
}

TEST_P(CopyEveryWay, RefusesATargetThatIsNotNew) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
  }
  {
    Writer writer(to_->options());
    writer.upsert_root("/theirs", "");
  }
  const AllRows before = all_rows(to_->path());
  EXPECT_THAT(
      refusal_of(from_->path(), to_->path()),
      AllOf(HasSubstr("it is not empty. Nothing in it was changed"), HasSubstr("createdb")));
  EXPECT_EQ(all_rows(to_->path()), before);
}

TEST_P(CopyEveryWay, TakesADatabaseThatWasOnlyMade) {
  {
    Writer writer(from_->options());
    write_runs(writer, 0, 3);
  }
  { Writer writer(to_->options()); }
  copy_all(from_->path(), to_->options());
  expect_same_rows(from_->path(), to_->path());
}

TEST_P(CopyEveryWay, RefusesTheSameDatabaseAndAWholeCopyOfIt) {
  { Writer writer(from_->options()); }
  EXPECT_THAT(refusal_of(from_->path(), from_->path()), HasSubstr("it is the same database"));
  copy_all(from_->path(), to_->options());
  EXPECT_THAT(refusal_of(from_->path(), to_->path()), HasSubstr("or a whole copy of it"));
  EXPECT_EQ(Reader(from_->path()).run_count({}), 0) << "and left no mark";
}

TEST_P(CopyEveryWay, RefusesATargetIntoWhichAnotherDatabaseIsCopied) {
  const NewPlace other(Engine::sqlite);
  { Writer writer(other.options()); }
  { Writer writer(from_->options()); }
  { DatabaseCopy copy(other.path(), to_->options()); }
  EXPECT_THAT(refusal_of(from_->path(), to_->path()),
              HasSubstr("another database, " + other.path() + ", is being copied into it"));
  copy_all(other.path(), to_->options());
}

TEST_P(CopyEveryWay, RefusesATargetThatSomebodyWritesTo) {
  { Writer writer(from_->options()); }
  const Writer writer(to_->options());
  EXPECT_THAT(refusal_of(from_->path(), to_->path()), HasSubstr("is already writing to it"));
}

TEST(DatabaseCopy, RefusesAnOlderSchemaAndSaysWhatToDo) {
  const NewPlace from(Engine::sqlite);
  const NewPlace to(Engine::sqlite);
  {
    SqliteConnection older(from.path(), SqliteConnection::Mode::read_write);
    migrate(older, all_migrations().first(5));
  }
  EXPECT_THAT(refusal_of(from.path(), to.path()), HasSubstr("that migrates it"));
  EXPECT_FALSE(fs::exists(to.path()));
}

TEST(DatabaseCopy, RefusesWhatIsNotThereAndWhatIsNotOurs) {
  const NewPlace from(Engine::sqlite);
  const NewPlace to(Engine::sqlite);
  EXPECT_THAT(refusal_of(from.path(), to.path()), HasSubstr("cannot read the database"));
  EXPECT_FALSE(fs::exists(to.path()));
  { Writer writer(from.options()); }
  execute_sql(to.path(), "CREATE TABLE theirs (id int)");
  EXPECT_THAT(refusal_of(from.path(), to.path()), HasSubstr("of another program"));
  EXPECT_THAT(refusal_of(to.path(), from.path()), HasSubstr("of another program"));
}

TEST(DatabaseCopy, KnowsTheSameFileByAnyName) {
  const NewPlace from(Engine::sqlite);
  { Writer writer(from.options()); }
  const std::string link = from.path() + ".link";
  fs::create_hard_link(from.path(), link);
  EXPECT_THAT(refusal_of(from.path(), link), HasSubstr("it is the same database"));
}

// As a kill between the migrations of a new file leaves it.
TEST(DatabaseCopy, TakesAFileWhoseMakingWasBrokenOff) {
  const NewPlace from(Engine::sqlite);
  const NewPlace to(Engine::sqlite);
  {
    Writer writer(from.options());
    write_runs(writer, 0, 3);
  }
  {
    SqliteConnection half(to.path(), SqliteConnection::Mode::read_write);
    migrate(half, all_migrations().first(3));
  }
  copy_all(from.path(), to.options());
  expect_same_rows(from.path(), to.path());
}

TEST(DatabaseCopy, HasPageChecksums) {
  const NewPlace from(Engine::sqlite);
  const NewPlace to(Engine::sqlite);
  {
    Writer writer(from.options());
    write_runs(writer, 0, 3);
  }
  copy_all(from.path(), to.options());
  const DatabaseCheck check = check_database(to.path(), CheckDepth::thorough);
  EXPECT_TRUE(check.has_page_checksums);
  EXPECT_THAT(check.damage, ElementsAre());
  EXPECT_THAT(check.dangling, testing::Optional(ElementsAre()));
  EXPECT_THAT(check.miscounted, testing::Optional(ElementsAre()));
}

}  // namespace
}  // namespace llmb::storage
