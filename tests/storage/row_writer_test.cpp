// RowWriter where it does not come to its end: nothing of it is kept, and the connection goes on.
#include <gmock/gmock.h>

#include "storage/open_database.h"
#include "storage/table_rows.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

class RowWriterOfRoots : public ::testing::Test {
 protected:
  // A root of which only the id counts.
  static StoredRow row_of(const TableLayout& layout, std::int64_t id) {
    StoredRow row;
    for (const TableColumn& column : layout.columns) {
      if (column.name == "id") {
        row.emplace_back(id);
      } else if (column.kind == ValueKind::integer) {
        row.emplace_back(std::int64_t{0});
      } else if (column.kind == ValueKind::text) {
        row.emplace_back("\\N\t" + std::to_string(id) + "\r\n\\.\n");
      } else {
        row.emplace_back();
      }
    }
    return row;
  }
  void write(std::int64_t first, std::int64_t end, bool finishes) {
    Transaction transaction(connection(), Transaction::Kind::write);
    RowWriter writer(connection(), layout_, sql_);
    std::vector<StoredRow> rows;
    for (std::int64_t id = first; id < end; ++id) rows.push_back(row_of(layout_, id));
    writer.write(rows);
    if (!finishes) throw std::runtime_error("given up");
    writer.finish();
    transaction.commit();
  }
  Connection& connection() { return opened_->connection(); }
  std::int64_t count() { return connection().read_one_integer("SELECT count(*) FROM root"); }

  const TemporaryDatabase database_;
  const std::unique_ptr<OpenDatabase> opened_ = open_writer(database_.options());
  const TableLayout layout_ = read_layout(connection(), "root");
  const RowInsertSql sql_ = insert_sql_of(layout_);
};

TEST_F(RowWriterOfRoots, KeepsWhatWouldEndAValue) {
  write(1, 4, true);
  RowPages pages(connection(), layout_);
  EXPECT_EQ(pages.next(),
            (std::vector{row_of(layout_, 1), row_of(layout_, 2), row_of(layout_, 3)}));
}

TEST_F(RowWriterOfRoots, WritesNothingWhereItIsGivenUp) {
  EXPECT_THROW(write(1, 5'000, false), std::runtime_error);
  EXPECT_EQ(count(), 0);
  write(1, 5'000, true);
  EXPECT_EQ(count(), 4'999);
}

TEST_F(RowWriterOfRoots, WritesNothingWhereARowContradictsAnother) {
  write(1'000, 1'001, true);
  try {
    write(1, 5'000, true);
    ADD_FAILURE() << "it was written";
  } catch (const StorageError& error) {
    EXPECT_EQ(error.kind, StorageError::Kind::constraint) << error.what();
  }
  EXPECT_EQ(count(), 1);
  write(1, 1'000, true);
  EXPECT_EQ(count(), 1'000);
}

}  // namespace
}  // namespace llmb::storage
