// The list of tables, and what the databases say of theirs.
#include <gmock/gmock.h>

#include <set>

#include "storage/open_database.h"
#include "storage/stored_tables.h"
#include "storage/table_layout.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

class StoredTables : public ::testing::Test {
 protected:
  Connection& connection() { return opened_->connection(); }
  const TemporaryDatabase database_;
  const std::unique_ptr<OpenDatabase> opened_ = open_writer(database_.options());
};

TEST_F(StoredTables, AreAllOfTheSchema) {
  std::vector<std::string> names = table_names(connection());
  std::erase(names, "llmb_report_schema");  // PostgreSQL's, for what SQLite has in its header
  std::erase(names, "writer_mark");         // PostgreSQL's, which has several writers
  std::erase(names, "left_out_tree");
  std::vector<std::string> listed;
  for (const StoredTable& table : kStoredTables) listed.emplace_back(table.name);
  listed.insert(listed.end(), kTalliedTables.begin(), kTalliedTables.end());
  // SQLite's, which writes its index of texts a thousand runs at a time.
  if (is_postgresql(database_.path())) std::erase(listed, "run_text_change");
  EXPECT_THAT(listed, UnorderedElementsAreArray(names))
      << "a table that stored_tables.h lacks is neither copied nor removed with its run";
}

TEST_F(StoredTables, SayWhichRowsAreOfARun) {
  for (const StoredTable& table : kStoredTables) {
    const TableLayout layout = read_layout(connection(), table.name);
    const bool has_run = std::any_of(layout.columns.begin(), layout.columns.end(),
                                     [](const TableColumn& one) { return one.name == "run_id"; });
    EXPECT_EQ(table.run_column == "run_id", has_run) << table.name;
    // A copy finds the rows of some runs by it.
    if (!table.run_column.empty()) {
      EXPECT_EQ(layout.columns.front().name, table.run_column) << table.name;
    }
  }
}

// A copy compares what changes beside a run for those two.
TEST_F(StoredTables, HaveTwoWhoseRowsChangeBesideTheirRuns) {
  for (const StoredTable& table : kStoredTables) {
    EXPECT_EQ(table.changes == StoredTable::Changes::beside_its_run,
              table.name == "log_text" || table.name == "step_chunk");
  }
}

TEST_F(StoredTables, FollowThoseThatTheyReferTo) {
  if (is_postgresql(database_.path())) GTEST_SKIP() << "asks SQLite, which has the same references";
  std::set<std::string> before;
  int references = 0;
  for (const StoredTable& table : kStoredTables) {
    Statement keys(connection(), "SELECT \"table\" FROM pragma_foreign_key_list(?)");
    keys.text(table.name);
    while (keys.step()) {
      EXPECT_TRUE(before.contains(keys.read_text())) << table.name;
      ++references;
    }
    before.emplace(table.name);
  }
  EXPECT_GT(references, 10);
}

TEST_F(StoredTables, HaveTheSameLayoutInBothEngines) {
  const TableLayout layout = read_layout(connection(), "step_field");
  std::vector<std::string> names;
  for (const TableColumn& column : layout.columns) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("run_id", "segment", "iteration", "position", "name", "value"));
  EXPECT_EQ(layout.key_columns, 4U);
  EXPECT_EQ(layout.columns[0].kind, ValueKind::integer);
  EXPECT_EQ(layout.columns[4].kind, ValueKind::text);
  const TableLayout runs = read_layout(connection(), "run");
  const auto is_there = [&](const std::string& name) {
    return std::any_of(runs.columns.begin(), runs.columns.end(),
                       [&](const TableColumn& one) { return one.name == name; });
  };
  EXPECT_TRUE(is_there("launched_at"));
  EXPECT_FALSE(is_there("began_at")) << "computed by the database";
  EXPECT_FALSE(is_there("cause_or_null"));
  EXPECT_THROW(read_layout(connection(), "no_such_table"), StorageError);
}

}  // namespace
}  // namespace llmb::storage
