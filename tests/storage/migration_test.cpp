// Migrations: forward, one at a time, with a copy of what was there.
#include <gmock/gmock.h>

#include <filesystem>

#include "parser/statistics/window_choice.h"
#include "storage/database.h"
#include "storage/schema.h"
#include "storage/settings_text.h"
#include "tests/storage/temporary_database.h"
#include "tests/temporary_folder.h"

namespace llmb::storage {
namespace {

using Mode = SqliteConnection::Mode;
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
  SqliteConnection connection(database.path(), Mode::read_write);
  migrate(connection, std::vector{kFirst});
  const std::string copy = database.path() + ".before-schema-2";
  EXPECT_FALSE(std::filesystem::exists(copy));
  migrate(connection, std::vector{kFirst, kSecond});
  EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a WHERE x = 7 AND y = 'y'"), 1);
  EXPECT_EQ(connection.read_one_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(connection.read_one_integer("PRAGMA foreign_keys"), 1);

  SqliteConnection before(copy, Mode::read_only);
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
      SqliteConnection connection(database.path(), Mode::read_write);
      migrate(connection, std::vector{kFirst});
      EXPECT_THROW(migrate(connection, std::vector{kFirst, kSecond, bad}), StorageError);
    }
    SqliteConnection connection(database.path(), Mode::read_write);
    EXPECT_EQ(connection.read_one_integer("PRAGMA user_version"), 2) << bad.name;
    EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a"), 1) << bad.name;
    EXPECT_EQ(connection.read_one_integer("SELECT count(*) FROM a WHERE y = 'y'"), 1);
  }
}

TEST(Migrations, RefuseANewerSchemaUntouched) {
  const TemporaryDatabase database;
  SqliteConnection connection(database.path(), Mode::read_write);
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

// A row for each value, as schemas before 23 have it.
void write_configuration_rows(SqliteConnection& connection) {
  Statement runs(connection, "SELECT run_id, settings FROM newer.run_settings");
  while (runs.step()) {
    const RunId run = runs.read_integer();
    const parser::RunConfiguration configuration = read_settings_text(runs.read_text());
    for (const auto& [key, values] : configuration.all()) {
      std::int64_t position = 0;
      for (const parser::ConfigValue& value : values) {
        Statement insert(connection, "INSERT INTO main.run_configuration VALUES (?, ?, ?, ?, ?)");
        insert.integer(run).text(key).integer(position++).text(value.value);
        insert.text(parser::config_source_name(value.source)).run();
      }
    }
  }
}

// As a program of schema `version` would have left it: its tables, with what those of `newer` hold.
void write_older_database(const std::string& older, std::size_t version, const std::string& newer) {
  SqliteConnection connection(older, Mode::read_write);
  migrate(connection, all_migrations().first(version));
  connection.execute("PRAGMA foreign_keys = OFF; ATTACH '" + newer + "' AS newer");
  std::vector<std::string> tables;
  Statement list(connection, "SELECT name FROM main.sqlite_schema WHERE type = 'table'");
  while (list.step()) tables.push_back(list.read_text());
  for (const std::string& table : tables) {
    if (table == "run_configuration") {
      write_configuration_rows(connection);
      continue;
    }
    std::string columns;
    Statement names(connection, "SELECT name FROM pragma_table_info(?, 'main')");
    names.text(table);
    while (names.step()) columns += (columns.empty() ? "" : ", ") + names.read_text();
    std::string copy = "REPLACE INTO main.";
    copy.append(table).append(" (").append(columns).append(") SELECT ").append(columns);
    copy.append(" FROM newer.").append(table);
    connection.execute(copy);
  }
}

// Two restarts, and batches of 64 but where `other_batch_at` says; none at all for -1.
IngestBatch batch_of(RootId root, const std::string& name, std::int64_t first_iteration,
                     std::int64_t other_batch_at) {
  IngestBatch batch = make_batch(root, name);
  batch.configuration.set("dtype", "fp8", parser::ConfigSource::llmb_config);
  batch.configuration.set("dtype", "fp8_cs", parser::ConfigSource::experiment_name);
  batch.configuration.set("key=with\\all", "two\nlines, a \\ and a=b", parser::ConfigSource::path);
  for (std::int32_t segment = 0; segment < 2; ++segment) {
    const std::int64_t first = first_iteration + std::int64_t{segment} * 30;
    for (std::int64_t i = first; i < first + 60; ++i) {
      parser::StepSample step = make_step(static_cast<int>(i), 2.0);
      step.segment = segment;
      step.global_batch_size.reset();
      if (other_batch_at >= 0) step.global_batch_size = i == other_batch_at ? 128 : 64;
      batch.samples.push_back(step);
    }
    batch.facts.segments.push_back({first, first + 59, 60, 0, std::nullopt, 0, segment});
  }
  batch.summary.segment_count = 2;
  batch.logged_global_batch_size =
      parser::logged_global_batch_size(batch.samples, parser::batch_evidence_window(batch.facts));
  return batch;
}

TEST(Migrations, AnOlderDatabaseKeepsItsRunsAndGainsWhatTheirStepsSay) {
  const TemporaryDatabase newer;
  std::vector<IngestBatch> batches;
  {
    Writer writer(newer.options());
    const RootId root = writer.upsert_root("/logs", "eos");
    batches = {batch_of(root, "same", 0, 1'000),      batch_of(root, "none", 0, -1),
               batch_of(root, "first", 0, 0),         batch_of(root, "last", 0, 44),
               batch_of(root, "after", 0, 45),        batch_of(root, "later", 1'000, 1'044),
               batch_of(root, "beyond", 1'000, 1'045)};
    batches.push_back(make_batch(root, "no_step"));
    writer.commit(batches);
  }
  std::vector<std::optional<std::int64_t>> expected;
  expected.reserve(batches.size());
  for (const IngestBatch& batch : batches) {
    expected.push_back(batch.logged_global_batch_size);
  }
  const std::optional<std::int64_t> none;
  ASSERT_THAT(expected, testing::ElementsAre(64, none, none, none, 64, none, 64, none));

  for (const std::size_t version : {4U, 5U}) {
    const TemporaryDatabase older;
    write_older_database(older.path(), version, newer.path());
    { const Writer writer(older.options()); }
    EXPECT_TRUE(
        std::filesystem::exists(older.path() + ".before-schema-" + std::to_string(version + 1)));
    Reader reader(older.path());
    Reader wanted(newer.path());
    RunQuery query;
    query.sort = RunSortKey::id;
    query.descending = false;
    const auto runs = reader.runs(query).runs;
    ASSERT_EQ(runs.size(), batches.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto run = *wanted.run(runs[i].id);
      EXPECT_EQ(runs[i].relative_path, batches[i].relative_path);
      EXPECT_EQ(runs[i].summary, batches[i].summary) << runs[i].relative_path;
      EXPECT_EQ(runs[i].logged_global_batch_size, batches[i].logged_global_batch_size);
      EXPECT_EQ(runs[i].window_source, "");
      EXPECT_EQ(runs[i].facts.segments, run.facts.segments);
      EXPECT_EQ(runs[i].configuration, run.configuration);
      EXPECT_EQ(reader.steps(run.id), wanted.steps(run.id));
    }
    EXPECT_EQ(reader.data_revision(), wanted.data_revision());
  }
}

// What ingest would say of them: one step after a load, two steps, a load that was to go on.
TEST(Migrations, AnOlderDatabaseLearnsWhichRunsAreFunctionChecks) {
  const TemporaryDatabase newer;
  const auto check_of = [](RootId root, const std::string& name, std::int64_t steps,
                           std::int64_t declared) {
    IngestBatch batch = make_batch(root, name);
    batch.facts.checkpoints = {{parser::CheckpointEvent::Kind::load, {}, 9.712, {}, 0}};
    batch.facts.segments = {{50, 49 + steps, steps, 0, std::nullopt, 0, 0}};
    batch.summary.segment = 0;
    batch.summary.segment_count = 1;
    batch.summary.last_iteration = 49 + steps;
    batch.summary.declared_last_iteration = declared;
    batch.summary.is_function_check = steps == 1 && declared == 50;
    batch.summary.step_time_s = {steps, 9, 0, 0, 9, 9, 9, 9};
    return batch;
  };
  {
    Writer writer(newer.options());
    const RootId root = writer.upsert_root("/logs", "eos");
    writer.commit(std::vector{check_of(root, "check", 1, 50), check_of(root, "two", 2, 51),
                              check_of(root, "began", 1, 99)});
  }
  const TemporaryDatabase older;
  write_older_database(older.path(), 7, newer.path());
  { const Writer writer(older.options()); }
  Reader reader(older.path());
  Reader wanted(newer.path());
  RunQuery query;
  query.sort = RunSortKey::step_time_s_stddev_sample;
  const auto runs = reader.runs(query).runs;
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].relative_path, "two") << "one step has no deviation, and comes last";
  for (const RunRecord& run : runs) EXPECT_EQ(run.summary, wanted.run(run.id)->summary);
}

TEST(Migrations, TellTokensFromUsersOfTheSameName) {
  const TemporaryFolder folder;
  SqliteConnection connection(folder.file("older.db"), Mode::read_write);
  migrate(connection, all_migrations().first(26));
  const auto insert_job = [&](const std::string& values) {
    connection.execute(
        "INSERT INTO job (id, submission_id, cluster, state, experiment, launch_id, run_folder,"
        " submission, submitted_by, created_at, updated_at, is_queued) VALUES (" +
        values + ")");
  };
  insert_job("1, 's1', 'eos', 'ended', 'e', 'l', 'f', '{}', 'ci', 't', 't', 1");
  insert_job("11, 's2', 'eos', 'ended', 'e', 'l', 'f', '{}', 'ci', 't', 't', 0");
  connection.execute(
      "INSERT INTO job_request VALUES ('ci', 'of the token', 'h', '1 12', 't'),"
      " ('ci', 'of the user', 'h', '11', 't')");
  migrate(connection, all_migrations());
  const auto submitters_of = [&](const std::string& table, const std::string& order) {
    Statement select(connection, "SELECT submitted_by FROM " + table + " ORDER BY " + order);
    std::vector<std::string> submitters;
    while (select.step()) submitters.push_back(select.read_text());
    return submitters;
  };
  const std::vector<std::string> wanted = {"token:ci", "ci"};
  EXPECT_EQ(submitters_of("job", "id"), wanted);
  EXPECT_EQ(submitters_of("job_request", "idempotency_key"), wanted);
}

}  // namespace
}  // namespace llmb::storage
