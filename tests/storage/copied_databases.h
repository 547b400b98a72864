// Databases to copy from and to, of either engine, and what they hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/database_copy.h"
#include "storage/open_database.h"
#include "storage/stored_tables.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {

enum class Engine { sqlite, postgresql };

inline bool has_postgresql() {
  return std::getenv("LLMB_TEST_POSTGRESQL") != nullptr;
}

// A place where nothing is yet.
class NewPlace {
 public:
  explicit NewPlace(Engine engine) {
    if (engine == Engine::postgresql) database_.emplace();
  }
  std::string path() const { return database_ ? database_->path() : folder_.file("new.db"); }
  OpenOptions options() const { return {path(), true}; }

 private:
  const TemporaryFolder folder_;
  std::optional<TemporaryDatabase> database_;
};

// Two engines: from which, and into which.
class BothWays : public ::testing::TestWithParam<std::pair<Engine, Engine>> {
 protected:
  void SetUp() override {
    const auto [from, to] = GetParam();
    if ((from == Engine::postgresql || to == Engine::postgresql) && !has_postgresql()) {
      GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
    }
    from_.emplace(from);
    to_.emplace(to);
  }
  std::optional<NewPlace> from_;
  std::optional<NewPlace> to_;
};

inline const auto kEveryWay = ::testing::Values(std::pair(Engine::sqlite, Engine::sqlite),
                                                std::pair(Engine::sqlite, Engine::postgresql),
                                                std::pair(Engine::postgresql, Engine::sqlite),
                                                std::pair(Engine::postgresql, Engine::postgresql));

inline std::string name_of_way(const ::testing::TestParamInfo<std::pair<Engine, Engine>>& way) {
  const auto name = [](Engine engine) {
    return std::string(engine == Engine::sqlite ? "Sqlite" : "Postgresql");
  };
  return name(way.param.first) + "To" + name(way.param.second);
}

// By table, whatever their order.
using AllRows = std::map<std::string, std::vector<StoredRow>>;

inline AllRows all_rows(const std::string& place) {
  const auto database = open_reader(place);
  AllRows all;
  for (const StoredTable& table : kStoredTables) {
    const TableLayout layout = read_layout(database->connection(), table.name);
    std::vector<StoredRow>& rows = all[layout.table];
    RowPages pages(database->connection(), layout);
    for (const auto* page = &pages.next(); !page->empty(); page = &pages.next()) {
      rows.insert(rows.end(), page->begin(), page->end());
    }
    std::sort(rows.begin(), rows.end());
  }
  return all;
}

inline void expect_same_rows(const std::string& place, const std::string& other) {
  const AllRows rows = all_rows(place);
  const AllRows others = all_rows(other);
  for (const auto& [table, of_table] : rows) {
    EXPECT_TRUE(of_table == others.at(table))
        << table << ": " << of_table.size() << " and " << others.at(table).size() << " rows";
  }
}

// To its end. The names of the tables that differ.
inline std::vector<std::string> copy_all(DatabaseCopy& copy) {
  while (copy.copy_some_runs() > 0) {
  }
  copy.copy_rest();
  std::vector<std::string> different;
  while (const auto table = copy.check_next_table()) {
    if (!table->is_same()) different.push_back(table->name);
  }
  if (different.empty()) copy.finish();
  return different;
}

inline void copy_all(const std::string& from, const OpenOptions& to) {
  DatabaseCopy copy(from, to);
  EXPECT_TRUE(copy_all(copy).empty());
}

// More runs than a transaction of a copy takes, of two steps each.
inline constexpr int kManyRuns = 700;

inline void write_runs(Writer& writer, int first, int end) {
  const RootId root = writer.upsert_root("/logs", "eos");
  std::vector<IngestBatch> batches;
  for (int i = first; i < end; ++i) {
    batches.push_back(make_batch(root, "run_" + std::to_string(i) + ".out", 2));
  }
  writer.commit(batches);
}

}  // namespace llmb::storage
