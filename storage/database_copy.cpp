#include "storage/database_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "storage/copy_target.h"
#include "storage/database_place.h"
#include "storage/missing_runs.h"
#include "storage/new_run_counts.h"
#include "storage/open_database.h"
#include "storage/run_removal.h"
#include "storage/stored_tables.h"

namespace llmb::storage {
namespace {

constexpr std::size_t kRemovedAtOnce = 64;
// As how many steps a block of a log's text counts, some ten KiB.
constexpr std::int64_t kStepsABlock = 256;

struct TableToCopy {
  const StoredTable* table;
  TableLayout layout;
  RowInsertSql insert;
};

std::vector<TableToCopy> tables_of(Connection& from, Connection& to) {
  std::vector<TableToCopy> tables;
  for (const StoredTable& table : kStoredTables) {
    TableLayout layout = read_layout(from, table.name);
    if (read_layout(to, table.name).columns != layout.columns) {
      throw StorageError(StorageError::Kind::corrupt,
                         fmt::format("cannot copy {} into {}: their tables {} have not the same "
                                     "columns; another program has changed one of them.",
                                     from.place(), to.place(), table.name));
    }
    RowInsertSql insert = insert_sql_of(layout);
    tables.push_back({&table, std::move(layout), std::move(insert)});
  }
  return tables;
}

std::string store_id_of(Connection& connection) {
  Statement select(connection, "SELECT store_id FROM store");
  return select.step() ? select.read_text() : std::string();
}

}  // namespace

struct DatabaseCopy::Impl {
  std::unique_ptr<OpenDatabase> source;
  Connection& from;
  Transaction reading;
  CopyTarget target;
  Connection& to;
  std::vector<TableToCopy> tables;
  Runs runs;
  std::vector<MissingRuns> missing;
  std::size_t next_missing = 0;
  std::size_t next_check = 0;

  Impl(const std::string& from_place, const OpenOptions& options)
      : source(open_reader(from_place)),
        from(source->connection()),
        reading(from, Transaction::Kind::read),
        target(open_copy_target(options, {shown_place(from_place), store_id_of(from)})),
        to(target.database->connection()),
        tables(tables_of(from, to)) {
    const std::array beside = {TableBeside{table("log_text").layout, kStepsABlock},
                               TableBeside{table("step_chunk").layout, 0}};
    RunComparison found = compare_runs(from, to, table("run").layout, beside);
    runs.standing = found.standing;
    runs.removed = static_cast<std::int64_t>(found.stale.size());
    for (const MissingRuns& some : found.missing) {
      runs.missing += some.runs;
      runs.missing_steps += some.steps;
    }
    missing = std::move(found.missing);
    remove(found.stale);
    change([&] { put_roots(); });
  }

  const TableToCopy& table(std::string_view name) const {
    return *std::find_if(tables.begin(), tables.end(),
                         [&](const TableToCopy& one) { return one.table->name == name; });
  }

  template <typename Change>
  void change(const Change& change) {
    target.database->check();
    Transaction transaction(to, Transaction::Kind::write);
    change();
    transaction.commit();
    target.database->bound_log();
  }

  void remove(const std::vector<RunId>& stale) {
    for (std::size_t begin = 0; begin < stale.size(); begin += kRemovedAtOnce) {
      change([&] {
        for (std::size_t i = begin; i < std::min(begin + kRemovedAtOnce, stale.size()); ++i) {
          remove_run(to, stale[i]);
        }
      });
    }
  }

  // Runs stand below them, so they are not written anew. A path that another root had before is
  // free when it is wanted.
  void put_roots() {
    to.execute("UPDATE root SET path = CAST(id AS TEXT)");
    const TableLayout& layout = table("root").layout;
    RowPages pages(from, layout);
    for (const auto* rows = &pages.next(); !rows->empty(); rows = &pages.next()) {
      put_rows(to, layout, *rows);
    }
  }

  void insert(const TableToCopy& table, std::optional<IdRange> range) {
    RowPages pages(from, table.layout, range);
    const auto* rows = &pages.next();
    if (rows->empty()) return;
    RowWriter writer(to, table.layout, table.insert);
    for (; !rows->empty(); rows = &pages.next()) writer.write(*rows);
    writer.finish();
  }

  void insert_runs(const MissingRuns& some) {
    change([&] {
      for (const TableToCopy& table : tables) {
        if (table.table->changes != StoredTable::Changes::by_itself) insert(table, some.ids);
      }
      count_new_runs(to, some.ids.first, some.ids.last);
    });
  }

  // Roots are there already.
  static bool is_of_the_rest(const TableToCopy& table) {
    return table.table->changes == StoredTable::Changes::by_itself && table.table->name != "root";
  }

  void write_rest() {
    change([&] {
      for (const TableToCopy& table : tables) {
        if (is_of_the_rest(table)) to.execute("DELETE FROM " + table.layout.table);
      }
      for (const TableToCopy& table : tables) {
        if (is_of_the_rest(table)) insert(table, std::nullopt);
      }
    });
  }
};

DatabaseCopy::DatabaseCopy(const std::string& from, const OpenOptions& to)
    : impl_(std::make_unique<Impl>(from, to)) {}
DatabaseCopy::~DatabaseCopy() = default;

bool DatabaseCopy::was_begun() const {
  return impl_->target.was_begun;
}

const DatabaseCopy::Runs& DatabaseCopy::runs() const {
  return impl_->runs;
}

std::int64_t DatabaseCopy::copy_some_runs() {
  if (impl_->next_missing == impl_->missing.size()) return 0;
  const MissingRuns& some = impl_->missing[impl_->next_missing++];
  impl_->insert_runs(some);
  return some.runs;
}

void DatabaseCopy::copy_rest() {
  impl_->write_rest();
}

std::size_t DatabaseCopy::table_count() const {
  return impl_->tables.size();
}

std::optional<CopiedTable> DatabaseCopy::check_next_table() {
  if (impl_->next_check == impl_->tables.size()) return std::nullopt;
  const TableLayout& layout = impl_->tables[impl_->next_check++].layout;
  return CopiedTable{layout.table, sum_of(impl_->from, layout), sum_of(impl_->to, layout)};
}

void DatabaseCopy::finish() {
  impl_->change([&] { remove_copy_mark(impl_->to); });
}

}  // namespace llmb::storage
