#include "storage/postgresql_database.h"

#include <fmt/format.h>

#include <string>

#include "migrations/postgresql_migration_files.h"
#include "storage/postgresql_connection.h"

namespace llmb::storage {
namespace {

using Mode = PostgresqlConnection::Mode;

// Held by a writer for as long as its session lasts.
constexpr std::int64_t kOnlyWriter = 0x4C4C4D42'4F4E4C59;  // "LLMBONLY"

std::int64_t newest_version() {
  return static_cast<std::int64_t>(postgresql_migration_files().size());
}

// 0: no table of llmb-report is there.
std::int64_t version_of(Connection& connection) {
  const bool is_ours =
      connection.read_one_integer("SELECT to_regclass('llmb_report_schema') IS NOT NULL") != 0;
  return is_ours ? connection.read_one_integer("SELECT version FROM llmb_report_schema") : 0;
}

void require_our_database(Connection& connection, std::int64_t version) {
  if (version > newest_version()) {
    throw StorageError(
        StorageError::Kind::newer_schema,
        fmt::format("refused to open {}: its schema is version {}, and this program knows up to "
                    "{}. Use the newer program that wrote it, or another database.",
                    connection.place(), version, newest_version()));
  }
  const bool has_others =
      version == 0 && connection.read_one_integer(
                          "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()") > 0;
  if (has_others) {
    throw StorageError(
        StorageError::Kind::corrupt,
        fmt::format("refused to open {}: it has tables of another program. Nothing in it was "
                    "changed; give llmb-report an empty database (createdb) or schema.",
                    connection.place()));
  }
  const bool is_utf8 = connection.read_one_integer(
                           "SELECT pg_encoding_to_char(encoding) = 'UTF8' FROM pg_database"
                           " WHERE datname = current_database()") != 0;
  if (is_utf8) return;
  throw StorageError(StorageError::Kind::io,
                     fmt::format("cannot use {}: its encoding is not UTF-8. Make one that is: "
                                 "createdb --encoding=UTF8 --template=template0 NAME.",
                                 connection.place()));
}

void require_current_schema(Connection& connection) {
  const std::int64_t version = version_of(connection);
  require_our_database(connection, version);
  if (version == newest_version()) return;
  throw StorageError(StorageError::Kind::io,
                     fmt::format("cannot read {}: its schema is version {} of {}. Start "
                                 "`llmb-report ingest` or `serve` on it once; that migrates it.",
                                 connection.place(), version, newest_version()));
}

void migrate(Connection& connection) {
  Transaction transaction(connection, Transaction::Kind::write);
  const std::int64_t version = version_of(connection);
  require_our_database(connection, version);
  const auto files = postgresql_migration_files();
  for (std::int64_t next = version + 1; next <= newest_version(); ++next) {
    connection.execute(std::string(files[static_cast<std::size_t>(next - 1)].bytes));
    connection.execute(fmt::format("UPDATE llmb_report_schema SET version = {}", next));
  }
  transaction.commit();
}

class PostgresqlDatabase : public OpenDatabase {
 public:
  PostgresqlDatabase(const std::string& url, Mode mode) : connection_(url, mode) {}
  PostgresqlConnection& connection() override { return connection_; }
  void check() override { connection_.ensure(); }
  DatabaseBytes bytes() override {
    return {static_cast<std::uint64_t>(
                connection_.read_one_integer("SELECT pg_database_size(current_database())")),
            0};
  }

 private:
  PostgresqlConnection connection_;
};

// The name under which the changes of a database, or of one schema of it, are announced; one of
// that form needs no quotes.
constexpr const char* kChannel = "'llmb_' || md5(current_schema())";

std::string read_channel(Connection& connection) {
  Statement select(connection, fmt::format("SELECT {}", kChannel));
  return select.step() ? select.read_text() : "";
}

class PostgresqlListener : public ChangeListener {
 public:
  explicit PostgresqlListener(const std::string& url) : connection_(url, Mode::read_only) {
    connection_.execute("LISTEN " + read_channel(connection_));
  }
  std::optional<DataChange> wait(std::chrono::milliseconds timeout, int wake) override {
    const auto payload = connection_.wait_for_notice(timeout, wake);
    return payload ? parse_announcement(*payload) : std::nullopt;
  }

 private:
  PostgresqlConnection connection_;
};

// The server gives up the lock with the session, however that ends; so it is taken anew with each.
class PostgresqlWriter : public PostgresqlDatabase {
 public:
  PostgresqlWriter(const std::string& url, const AdmitDatabase& admit)
      : PostgresqlDatabase(url, Mode::read_write) {
    take_lock();
    connection().on_new_session([this] { take_lock(); });
    require_our_database(connection(), version_of(connection()));
    admit(connection());
    migrate(connection());
  }

  // In the transaction: the server sends it when that is committed, and to nobody where it is not.
  void announce(const DataChange& change) override {
    connection()
        .kept(fmt::format("SELECT pg_notify({}, ?)", kChannel))
        .text(announcement_text(change))
        .run();
  }

 private:
  void take_lock() {
    const std::string sql = fmt::format("SELECT pg_try_advisory_lock({})", kOnlyWriter);
    if (connection().read_one_integer(sql) != 0) return;
    throw StorageError(StorageError::Kind::busy_elsewhere,
                       fmt::format("cannot write to {}: another process is already writing to it. "
                                   "Stop that one, or give this one a database of its own.",
                                   connection().place()));
  }
};

}  // namespace

std::unique_ptr<OpenDatabase> open_postgresql_writer(const std::string& url,
                                                     const AdmitDatabase& admit) {
  return std::make_unique<PostgresqlWriter>(url, admit);
}

std::unique_ptr<OpenDatabase> open_postgresql_beside_writer(const std::string& url) {
  auto database = std::make_unique<PostgresqlDatabase>(url, Mode::read_write);
  require_current_schema(database->connection());
  return database;
}

std::unique_ptr<ChangeListener> listen_to_postgresql(const std::string& url) {
  const std::unique_ptr<OpenDatabase> asked = open_postgresql_reader(url);
  const bool follows = asked->connection().read_one_integer("SELECT pg_is_in_recovery()") != 0;
  return follows ? nullptr : std::make_unique<PostgresqlListener>(url);
}

std::unique_ptr<OpenDatabase> open_postgresql_reader(const std::string& url) {
  auto database = std::make_unique<PostgresqlDatabase>(url, Mode::read_only);
  require_current_schema(database->connection());
  return database;
}

}  // namespace llmb::storage
