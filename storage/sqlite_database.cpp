#include "storage/sqlite_database.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "storage/file_guard.h"
#include "storage/local_disk.h"
#include "storage/schema.h"
#include "storage/sqlite_connection.h"
#include "storage/writer_lock.h"

namespace llmb::storage {
namespace {

using Mode = SqliteConnection::Mode;

// Of so many pages the log is copied into the file where nobody waits for the writer, and of more
// in a commit: what many commits change, as the pages of indexes, is copied once. Then SQLite
// starts it over. Beyond the last limit it is emptied by force, as soon as no reader is in the way.
constexpr int kWalPagesAtRest = 12'000;
constexpr int kWalPages = 20'000;
constexpr std::uint64_t kWalBytesMax = 96ULL << 20;
constexpr std::chrono::milliseconds kTruncatePatience{20};

// One name for one file, so that its lock is one too, whatever path led here.
std::string canonical_path(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : canonical.string();
}

std::string checked_path(const OpenOptions& options) {
  std::string path = canonical_path(options.path);
  if (!options.allow_network_file_system) require_local_disk(path);
  return path;
}

std::string existing_path(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  if (!error) return canonical.string();
  throw StorageError(StorageError::Kind::io,
                     "cannot read the database " + path + ": " + error.message() +
                         ". `llmb-report ingest` or `serve` creates it; check the path.");
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

class SqliteDatabase : public OpenDatabase {
 public:
  SqliteDatabase(const std::string& path, Mode mode) : connection_(path, mode) {}
  SqliteConnection& connection() override { return connection_; }
  bool is_current() override { return connection_.is_current(); }
  DatabaseBytes bytes() override {
    return {file_bytes(connection_.path()), file_bytes(connection_.path() + "-wal")};
  }

 private:
  SqliteConnection connection_;
};

class GuardedSqliteDatabase : public SqliteDatabase {
 public:
  explicit GuardedSqliteDatabase(const std::string& path)
      : SqliteDatabase(path, Mode::read_write), guard_(connection()) {}
  void check() override { guard_.check(); }

 private:
  FileGuard guard_;
};

// The lock comes first: nothing is read, let alone migrated, while another writer lives.
struct HeldLock {
  explicit HeldLock(const std::string& path) : lock(path) {}
  WriterLock lock;
};

class SqliteWriter : private HeldLock, public GuardedSqliteDatabase {
 public:
  SqliteWriter(const std::string& path, const AdmitDatabase& admit)
      : HeldLock(path), GuardedSqliteDatabase(path) {
    lock.hold_inode();
    require_our_schema(connection());
    admit(connection());
    require_sound_tables(connection());
    require_wal();
    connection().execute(
        fmt::format("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = {};", kWalBytesMax));
    connection().copy_wal_at(kWalPages);
    migrate(connection(), all_migrations());
  }

  void use_rest() override {
    if (connection().wal_pages() >= kWalPagesAtRest) connection().try_copy_wal();
  }

  void bound_log() override {
    if (bytes().write_ahead_log <= kWalBytesMax) return;
    connection().set_patience(kTruncatePatience);
    try {
      connection().try_truncate_wal();
    } catch (const StorageError&) {  // NOLINT: the commit stands; the next one tries again
    }
    connection().set_patience(SqliteConnection::kPatience);
  }

 private:
  void require_wal() {
    Statement set_mode(connection(), "PRAGMA journal_mode = WAL");
    if (set_mode.step() && set_mode.read_text() == "wal") return;
    throw StorageError(StorageError::Kind::io,
                       "cannot use a write-ahead log for " + connection().path() +
                           ": its file system does not share memory between processes. Put the "
                           "database on a local disk.");
  }
};

}  // namespace

std::unique_ptr<OpenDatabase> open_sqlite_writer(const OpenOptions& options,
                                                 const AdmitDatabase& admit) {
  return std::make_unique<SqliteWriter>(checked_path(options), admit);
}

std::unique_ptr<OpenDatabase> open_sqlite_beside_writer(const OpenOptions& options) {
  auto database =
      std::make_unique<GuardedSqliteDatabase>(std::filesystem::canonical(options.path).string());
  require_current_schema(database->connection());
  database->connection().execute("PRAGMA synchronous = FULL");
  return database;
}

std::unique_ptr<OpenDatabase> open_sqlite_reader(const std::string& path) {
  auto database = std::make_unique<SqliteDatabase>(existing_path(path), Mode::read_only);
  database->connection().execute("PRAGMA query_only = ON");
  require_current_schema(database->connection());
  return database;
}

}  // namespace llmb::storage
