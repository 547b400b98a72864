// What a transaction does with a statement that fails, over either engine: it may be told of later,
// the commit at the latest, and nothing of the transaction is kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "storage/open_database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using Kind = StorageError::Kind;

constexpr const char* kInsertRoot = "INSERT INTO root (path) VALUES (?)";

class Transactions : public ::testing::Test {
 protected:
  Connection& connection() { return opened_->connection(); }
  void insert_root(const std::string& path) { connection().kept(kInsertRoot).text(path).run(); }
  std::int64_t roots() { return connection().read_one_integer("SELECT count(*) FROM root"); }
  // What `write` and the commit throw.
  template <typename Write>
  std::unique_ptr<StorageError> error_of(Write write) {
    try {
      Transaction transaction(connection(), Transaction::Kind::write);
      write();
      transaction.commit();
    } catch (const StorageError& error) {
      return std::make_unique<StorageError>(error);
    }
    return nullptr;
  }

  TemporaryDatabase database_;
  std::unique_ptr<OpenDatabase> opened_ = open_writer(database_.options());
};

TEST_F(Transactions, AFailedStatementIsTheErrorWhateverFollows) {
  const auto error = error_of([&] {
    insert_root("/a");
    insert_root("/a");
    for (int i = 0; i < 50; ++i) {
      connection().kept("UPDATE root SET files_seen = ?").integer(i).run();
    }
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::constraint);
  EXPECT_NE(std::string(error->what()).find("INSERT INTO root"), std::string::npos)
      << error->what();
  EXPECT_FALSE(connection().is_in_transaction());
  EXPECT_EQ(roots(), 0);
  EXPECT_FALSE(error_of([&] { insert_root("/a"); }));
  EXPECT_EQ(roots(), 1);
}

TEST_F(Transactions, NothingIsReadBehindAFailedStatement) {
  std::int64_t read = -1;
  const auto error = error_of([&] {
    insert_root("/a");
    insert_root("/a");
    read = roots();
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::constraint);
  EXPECT_EQ(read, -1);
}

TEST_F(Transactions, WhatIsReadComesBehindWhatWasWritten) {
  EXPECT_FALSE(error_of([&] {
    insert_root("/a");
    insert_root("/b");
    EXPECT_EQ(roots(), 2);
    insert_root("/c");
    connection().kept("UPDATE root SET files_seen = 7 WHERE path <> ?").text("/a").run();
    EXPECT_EQ(connection().changes(), 2);
    connection().execute("DELETE FROM root WHERE path = '/b'");
    EXPECT_EQ(roots(), 2);
  }));
  EXPECT_EQ(roots(), 2);
}

TEST_F(Transactions, WithoutACommitNothingIsKept) {
  {
    const Transaction transaction(connection(), Transaction::Kind::write);
    insert_root("/a");
    insert_root("/a/b");
    EXPECT_TRUE(connection().is_in_transaction());
  }
  EXPECT_FALSE(connection().is_in_transaction());
  EXPECT_EQ(roots(), 0);
}

TEST_F(Transactions, AStatementThatCameBehindAFailureCanBeRunAgain) {
  const auto name_cluster = [&] {
    connection().kept("UPDATE root SET cluster = ? WHERE path = ?").text("eos").text("/a").run();
  };
  EXPECT_TRUE(error_of([&] {
    insert_root("/a");
    insert_root("/a");
    name_cluster();
  }));
  EXPECT_FALSE(error_of([&] {
    insert_root("/a");
    name_cluster();
    EXPECT_EQ(connection().changes(), 1);
  }));
}

// More than there is room for between two programs, in either direction.
TEST_F(Transactions, HoldsAnyNumberOfStatements) {
  const std::string folder(2'000, 'x');
  EXPECT_FALSE(error_of([&] {
    for (int i = 0; i < 3'000; ++i) insert_root("/" + folder + std::to_string(i));
  }));
  EXPECT_EQ(roots(), 3'000);
  const auto error = error_of([&] {
    for (int i = 0; i < 3'000; ++i) insert_root("/" + std::to_string(i % 2'999));
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::constraint);
  EXPECT_EQ(roots(), 3'000);
}

TEST_F(Transactions, ALostSessionIsToldAndTheNextTransactionHasANewOne) {
  const char* const server = std::getenv("LLMB_TEST_POSTGRESQL");
  if (server == nullptr) GTEST_SKIP() << "a file has no session";
  const auto end_session = [&] {
    execute_sql_at_server(server,
                          "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE"
                          " application_name = 'llmb-report' AND datname = '" +
                              database_.name() + "'");
  };
  for (const bool is_awaited : {false, true}) {
    const auto error = error_of([&] {
      insert_root("/a");
      if (is_awaited) {
        EXPECT_EQ(roots(), 1);
      }
      end_session();
      for (int i = 0; i < 100; ++i) insert_root("/" + std::to_string(i));
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, Kind::io) << error->what();
    EXPECT_EQ(roots(), 0);
  }
  EXPECT_FALSE(error_of([&] { insert_root("/a"); }));
  EXPECT_EQ(roots(), 1);
}

// What PostgreSQL answers to a statement or, from a deferred trigger, to the commit: nothing of it
// is kept, it is told by its kind, and the same session goes on once the cause is gone.
TEST_F(Transactions, AFaultOfTheServerIsToldByItsKindAndTheNextTransactionGoesOn) {
  if (std::getenv("LLMB_TEST_POSTGRESQL") == nullptr) GTEST_SKIP() << "a file has no such faults";
  const std::pair<const char*, Kind> faults[] = {
      {"40001", Kind::busy_elsewhere}, {"40P01", Kind::busy_elsewhere}, {"53100", Kind::disk_full}};
  std::int64_t kept = 0;
  for (const auto& [sql_state, kind] : faults) {
    for (const char* const timing : {"INITIALLY IMMEDIATE", "INITIALLY DEFERRED"}) {
      SCOPED_TRACE(std::string(sql_state) + " " + timing);
      connection().execute(
          "CREATE FUNCTION fail_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
          " RAISE EXCEPTION 'made to fail' USING ERRCODE = '" +
          std::string(sql_state) + "'; END $$");
      connection().execute(
          "CREATE CONSTRAINT TRIGGER fail_insert AFTER INSERT ON root DEFERRABLE " +
          std::string(timing) + " FOR EACH ROW EXECUTE FUNCTION fail_insert()");
      const std::string path = "/" + std::to_string(kept);
      const auto error = error_of([&] { insert_root(path); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->kind, kind) << error->what();
      EXPECT_FALSE(connection().is_in_transaction());
      EXPECT_EQ(roots(), kept);
      connection().execute("DROP FUNCTION fail_insert() CASCADE");
      EXPECT_FALSE(error_of([&] { insert_root(path); }));
      EXPECT_EQ(roots(), ++kept);
    }
  }
}

}  // namespace
}  // namespace llmb::storage
