#include "storage/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "storage/beginning_anew.h"
#include "storage/database_header.h"
#include "storage/page_checksums.h"
#include "storage/write_ahead_log.h"

namespace llmb::storage {
namespace {

using Kind = StorageError::Kind;

bool means_no_space(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

// SQLite knows ENOSPC by itself, but reports a quota or a size limit as any other failed write,
// and keeps its errno on some paths only.
Kind kind_of(int code, bool no_space) {
  if (code == SQLITE_IOERR_DATA) return Kind::corrupt;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Kind::disk_full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Kind::busy_elsewhere;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Kind::corrupt;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return Kind::constraint;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return no_space ? Kind::disk_full : Kind::io;
    default:
      return Kind::io;
  }
}

std::string advice_to_begin_anew(const std::string& path) {
  return "(mv '" + path + "' '" + path +
         ".broken', with its -wal and -shm) and start again: " + kBeginningAnew +
         ". A copy from before the last migration, if there was one, is beside it as "
         ".before-schema-N.";
}

std::string advice(Kind kind, const std::string& path) {
  switch (kind) {
    case Kind::disk_full:
      return "Free some space on its disk (or raise the quota); nothing was half-written. Once "
             "there is room, run it again; a daemon that runs goes on by itself.";
    case Kind::busy_elsewhere:
      return "Another program holds the database; end it, or wait until it is done.";
    case Kind::corrupt:
      return "The file is damaged. Move it away " + advice_to_begin_anew(path);
    case Kind::constraint:
      return "The record contradicts what is stored; nothing was written.";
    default:
      return "Check that the folder exists, that it is writable, and that the disk is well.";
  }
}

// A reader's path may name anything, a log, say, that nobody should move. Who writes here may have
// had a database there.
[[noreturn]] void refuse_no_database(const std::string& path, SqliteConnection::Mode mode) {
  std::string refusal = fmt::format(
      "refused to open {}: it is not a database of llmb-report, and does not begin as "
      "one. Nothing in it was changed; check the path.",
      path);
  if (mode == SqliteConnection::Mode::read_write) {
    refusal += " If it was one, it is damaged. Move it away then " + advice_to_begin_anew(path);
  }
  throw StorageError(Kind::corrupt, refusal);
}

void refuse_folder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return;
  throw StorageError(Kind::io, fmt::format("cannot open {}: it is a folder, not a database. Name "
                                           "the database's file.",
                                           path));
}

// Before the library is used: it does not count the memory that it takes, which nobody asks for, so
// that no allocation waits for the lock of that count.
void configure_library() {
  [[maybe_unused]] static const int done = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

}  // namespace

void SqliteConnection::fail(int code, std::string_view doing) const {
  const int last_error = errno;
  const bool no_space = means_no_space(last_error) ||
                        (handle_ != nullptr && means_no_space(sqlite3_system_errno(handle_)));
  const Kind kind = kind_of(code, no_space);
  if (code == SQLITE_BUSY_SNAPSHOT) {
    throw StorageError(Kind::busy_elsewhere,
                       fmt::format("cannot {} (database {}): another program began to write it "
                                   "meanwhile. Try again.",
                                   doing, path()));
  }
  const char* said = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const std::string what =
      code == SQLITE_IOERR_DATA
          ? fmt::format("{} is not as llmb-report wrote it", last_changed_page())
          : std::string(said);
  throw StorageError(kind, fmt::format("cannot {} (database {}): {}. {}", doing, path(), what,
                                       advice(kind, path())));
}

namespace {

class SqliteStatement : public EngineStatement {
 public:
  SqliteStatement(SqliteConnection& connection, sqlite3_stmt* handle)
      : connection_(connection), handle_(handle) {}
  ~SqliteStatement() override { sqlite3_finalize(handle_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // SQLite counts parameters from 1.
  void bind_integer(int parameter, std::int64_t value) override {
    check_bound(sqlite3_bind_int64(handle_, parameter + 1, value));
  }
  void bind_real(int parameter, double value) override {
    check_bound(sqlite3_bind_double(handle_, parameter + 1, value));
  }
  void bind_text(int parameter, std::string_view value, bool is_borrowed) override {
    // An empty view may hold a null pointer, which SQLite would take for NULL.
    const char* data = value.empty() ? "" : value.data();
    const auto keeping = is_borrowed ? SQLITE_STATIC : SQLITE_TRANSIENT;  // NOLINT: its macro casts
    check_bound(
        sqlite3_bind_text64(handle_, parameter + 1, data, value.size(), keeping, SQLITE_UTF8));
  }
  void bind_bytes(int parameter, std::string_view value) override {
    const char* data = value.empty() ? "" : value.data();
    check_bound(sqlite3_bind_blob64(handle_, parameter + 1, data, value.size(),
                                    SQLITE_TRANSIENT));  // NOLINT
  }
  void bind_null(int parameter) override { check_bound(sqlite3_bind_null(handle_, parameter + 1)); }

  bool step() override;
  void reset() override {
    sqlite3_reset(handle_);  // repeats step()'s error code, which step() has dealt with
  }

  bool is_null(int column) const override {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
  }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(handle_, column); }
  double real(int column) const override { return sqlite3_column_double(handle_, column); }
  std::string text(int column) const override {
    const void* data = sqlite3_column_text(handle_, column);
    const int size = sqlite3_column_bytes(handle_, column);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
  }
  std::string bytes(int column) const override {
    const void* data = sqlite3_column_blob(handle_, column);  // null where there are none
    const int size = sqlite3_column_bytes(handle_, column);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
  }

 private:
  void check_bound(int code) {
    if (code != SQLITE_OK) connection_.fail(code, "bind a parameter");
  }

  SqliteConnection& connection_;
  sqlite3_stmt* handle_;
};

bool SqliteStatement::step() {
  errno = 0;  // fail() tells a full disk by it
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    // The message must be fetched before the reset, and the reset must happen all the same.
    const std::string sql = sqlite3_sql(handle_);
    try {
      connection_.fail(code, "execute \"" + sql.substr(0, 60) + "\"");
    } catch (...) {
      reset();
      throw;
    }
  }
  reset();
  return false;
}

}  // namespace

std::unique_ptr<EngineStatement> SqliteConnection::prepare(std::string_view sql, bool is_kept) {
  sqlite3_stmt* statement = nullptr;
  const unsigned flags = is_kept ? SQLITE_PREPARE_PERSISTENT : 0;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), flags,
                                      &statement, nullptr);
  if (code != SQLITE_OK) fail(code, "prepare \"" + std::string(sql.substr(0, 60)) + "\"");
  return std::make_unique<SqliteStatement>(*this, statement);
}

SqliteConnection::SqliteConnection(std::string file, Mode mode) : Connection(std::move(file)) {
  refuse_folder(path());
  configure_library();
  if (mode == Mode::read_only) still_as_ = still_state(path());
  open(mode);
  // A writer came in between: what it commits stands in its log, which is read with its own index.
  if (!is_current()) {
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    still_as_.reset();
    open(mode);
  }
}

bool SqliteConnection::is_current() const {
  return !still_as_ || still_state(path()) == still_as_;
}

void SqliteConnection::open(Mode mode) {
  const bool is_still = still_as_.has_value();
  const std::string name = is_still ? still_uri(path()) : path();
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (is_still ? SQLITE_OPEN_URI : 0) |
      (mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  errno = 0;
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, checked_file_system());
  try {
    if (code != SQLITE_OK) fail(code, "open it");
    set_up(mode);
  } catch (...) {
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    throw;
  }
}

void SqliteConnection::set_up(Mode mode) {
  if (is_of_another_program(read_header())) refuse_other_program(path());
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Who writes needs the triggers that keep run_text; SQL of the schema can call nothing there
  // that reaches beyond this file.
  const int trusts_schema = mode == Mode::read_only ? 0 : 1;
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, trusts_schema, nullptr);
  int reserved_bytes = kPageChecksumBytes;  // of a new database, and of what VACUUM makes
  sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved_bytes);
  set_patience(kPatience);
  try {
    execute("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;");
  } catch (const StorageError& error) {
    // Not before: SQLite may first have to put back what a crash left half-written.
    if (error.kind != Kind::corrupt || begins_as_database(read_first(kMagicBytes))) throw;
    refuse_no_database(path(), mode);
  }
}

// SQLite's own handle: closing another descriptor of the file would drop the locks that other
// connections of this process hold. Null: there is none.
sqlite3_file* SqliteConnection::own_file() {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(handle_, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
    return nullptr;
  return file == nullptr || file->pMethods == nullptr ? nullptr : file;
}

bool SqliteConnection::has_page_checksums() {
  return reserved_bytes_by_header(read_header()) == kPageChecksumBytes;
}

std::vector<std::string> SqliteConnection::changed_pages(std::size_t most) {
  std::vector<std::string> found;
  sqlite3_file* const file = own_file();
  sqlite3_int64 bytes = 0;
  if (file == nullptr || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK) return found;
  std::vector<char> page(static_cast<std::size_t>(read_one_integer("PRAGMA page_size")));
  const auto page_bytes = static_cast<sqlite3_int64>(page.size());
  std::optional<std::set<std::int64_t>> logged;  // read where it is needed
  for (sqlite3_int64 at = 0; at + page_bytes <= bytes && found.size() < most; at += page_bytes) {
    // A writer may be at work on the page: what it has written is there at the next look.
    int code = SQLITE_OK;
    for (int look = 0; look < 3; ++look) {
      code = file->pMethods->xRead(file, page.data(), static_cast<int>(page_bytes), at);
      if (code != SQLITE_IOERR_DATA) break;
    }
    if (code != SQLITE_IOERR_DATA) continue;
    if (!logged) logged = pages_in_write_ahead_log(path() + "-wal");
    if (!logged->contains(at / page_bytes + 1)) found.push_back(last_changed_page());
  }
  return found;
}

std::string SqliteConnection::read_header() {
  return read_first(kHeaderBytes);
}

std::string SqliteConnection::read_first(std::size_t count) {
  sqlite3_file* const file = own_file();
  if (file == nullptr) return {};
  std::string bytes(count, '\0');
  const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  return code == SQLITE_OK ? bytes : std::string();
}

void refuse_other_program(const std::string& path) {
  throw StorageError(Kind::corrupt,
                     fmt::format("refused to open {}: it is a database, but of another program. "
                                 "Nothing in it was changed; choose another path.",
                                 path));
}

SqliteConnection::~SqliteConnection() {
  drop_kept();
  sqlite3_close_v2(handle_);
}

void SqliteConnection::execute(const std::string& sql) {
  errno = 0;
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "execute \"" + sql.substr(0, 60) + "\"");
}

void SqliteConnection::roll_back() noexcept {
  sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

std::int64_t SqliteConnection::changes() {
  return sqlite3_changes64(handle_);
}

bool SqliteConnection::is_in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

void SqliteConnection::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
}

bool SqliteConnection::try_truncate_wal() {
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) return true;
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) return false;
  fail(code, "empty the write-ahead log");
}

// In the place of SQLite's own hook, which does not tell how long the log is.
void SqliteConnection::copy_wal_at(int pages) {
  wal_pages_max_ = pages;
  sqlite3_wal_hook(
      handle_,
      [](void* given, sqlite3* /*handle*/, const char* /*schema*/, int logged) {
        auto& self = *static_cast<SqliteConnection*>(given);
        self.wal_pages_ = logged;
        if (logged >= self.wal_pages_max_) self.try_copy_wal();
        return SQLITE_OK;
      },
      this);
}

void SqliteConnection::try_copy_wal() {
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK) wal_pages_ = 0;
}

void SqliteConnection::begin(TransactionKind kind) {
  kept(kind == TransactionKind::write ? "BEGIN IMMEDIATE" : "BEGIN").run();
}

void SqliteConnection::commit() {
  kept("COMMIT").run();
}

}  // namespace llmb::storage
