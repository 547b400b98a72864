#include "storage/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <optional>
#include <set>
#include <utility>

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

std::string advice(Kind kind, const std::string& path) {
  switch (kind) {
    case Kind::disk_full:
      return "Free some space on its disk (or raise the quota); nothing was half-written, and "
             "ingest goes on by itself.";
    case Kind::busy_elsewhere:
      return "Another program holds the database; end it, or wait until it is done.";
    case Kind::corrupt:
      return "The file is damaged or not a database. Move it away (mv '" + path + "' '" + path +
             ".broken', with its -wal and -shm) and start again: the logs are read anew. A copy "
             "from before the last migration, if there was one, is beside it as .before-schema-N.";
    case Kind::constraint:
      return "The record contradicts what is stored; nothing was written.";
    default:
      return "Check that the folder exists, that it is writable, and that the disk is well.";
  }
}

}  // namespace

void Connection::fail(int code, std::string_view doing) const {
  const int last_error = errno;
  const bool no_space = means_no_space(last_error) ||
                        (handle_ != nullptr && means_no_space(sqlite3_system_errno(handle_)));
  const Kind kind = kind_of(code, no_space);
  const char* said = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const std::string what =
      code == SQLITE_IOERR_DATA
          ? fmt::format("{} is not as llmb-report wrote it", last_changed_page())
          : std::string(said);
  throw StorageError(kind, fmt::format("cannot {} (database {}): {}. {}", doing, path_, what,
                                       advice(kind, path_)));
}

Statement::Statement(Connection& connection, std::string_view sql, bool is_kept)
    : connection_(&connection) {
  const unsigned flags = is_kept ? SQLITE_PREPARE_PERSISTENT : 0;
  const int code = sqlite3_prepare_v3(connection.handle_, sql.data(), static_cast<int>(sql.size()),
                                      flags, &handle_, nullptr);
  if (code != SQLITE_OK) {
    connection.fail(code, "prepare \"" + std::string(sql.substr(0, 60)) + "\"");
  }
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      handle_(std::exchange(other.handle_, nullptr)),
      next_parameter_(other.next_parameter_),
      next_column_(other.next_column_) {}

void Statement::check_bound(int code) {
  if (code != SQLITE_OK) connection_->fail(code, "bind a parameter");
  ++next_parameter_;
}

Statement& Statement::integer(std::int64_t value) {
  check_bound(sqlite3_bind_int64(handle_, next_parameter_, value));
  return *this;
}

Statement& Statement::real(double value) {
  check_bound(sqlite3_bind_double(handle_, next_parameter_, value));
  return *this;
}

Statement& Statement::text(std::string_view value) {
  bind_text(value, SQLITE_TRANSIENT);  // NOLINT: SQLite's own macro casts
  return *this;
}

Statement& Statement::borrowed_text(std::string_view value) {
  bind_text(value, SQLITE_STATIC);
  return *this;
}

void Statement::bind_text(std::string_view value, void (*keeping)(void*)) {
  // An empty view may hold a null pointer, which SQLite would take for NULL.
  const char* data = value.empty() ? "" : value.data();
  check_bound(
      sqlite3_bind_text64(handle_, next_parameter_, data, value.size(), keeping, SQLITE_UTF8));
}

Statement& Statement::null() {
  check_bound(sqlite3_bind_null(handle_, next_parameter_));
  return *this;
}

bool Statement::step() {
  next_column_ = 0;
  errno = 0;  // fail() tells a full disk by it
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    // The message must be fetched before the reset, and the reset must happen all the same.
    const std::string sql = sqlite3_sql(handle_);
    try {
      connection_->fail(code, "execute \"" + sql.substr(0, 60) + "\"");
    } catch (...) {
      reset();
      throw;
    }
  }
  reset();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() {
  sqlite3_reset(handle_);  // repeats step()'s error code, which step() has dealt with
  next_parameter_ = 1;
  next_column_ = 0;
}

bool Statement::next_is_null() const {
  return sqlite3_column_type(handle_, next_column_) == SQLITE_NULL;
}

std::int64_t Statement::read_integer() {
  return sqlite3_column_int64(handle_, next_column_++);
}

double Statement::read_real() {
  return sqlite3_column_double(handle_, next_column_++);
}

std::string Statement::read_text() {
  const void* data = sqlite3_column_text(handle_, next_column_);
  const int size = sqlite3_column_bytes(handle_, next_column_);
  ++next_column_;
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

std::optional<std::int64_t> Statement::read_optional_integer() {
  const bool is_null = next_is_null();
  const std::int64_t value = read_integer();
  return is_null ? std::nullopt : std::optional(value);
}

std::optional<double> Statement::read_optional_real() {
  const bool is_null = next_is_null();
  const double value = read_real();
  return is_null ? std::nullopt : std::optional(value);
}

std::optional<std::string> Statement::read_optional_text() {
  if (next_is_null()) {
    ++next_column_;
    return std::nullopt;
  }
  return read_text();
}

Connection::Connection(std::string path, Mode mode) : path_(std::move(path)) {
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
      (mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  errno = 0;
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, checked_file_system());
  try {
    if (code != SQLITE_OK) fail(code, "open it");
    if (is_of_another_program(read_header())) refuse_other_program(path_);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    int reserved_bytes = kPageChecksumBytes;  // of a new database, and of what VACUUM makes
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved_bytes);
    set_patience(kPatience);
    execute("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;");
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

// SQLite's own handle: closing another descriptor of the file would drop the locks that other
// connections of this process hold. Null: there is none.
sqlite3_file* Connection::own_file() {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(handle_, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
    return nullptr;
  return file == nullptr || file->pMethods == nullptr ? nullptr : file;
}

bool Connection::has_page_checksums() {
  return reserved_bytes_by_header(read_header()) == kPageChecksumBytes;
}

std::vector<std::string> Connection::changed_pages(std::size_t most) {
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
    if (!logged) logged = pages_in_write_ahead_log(path_ + "-wal");
    if (!logged->contains(at / page_bytes + 1)) found.push_back(last_changed_page());
  }
  return found;
}

std::string Connection::read_header() {
  sqlite3_file* const file = own_file();
  if (file == nullptr) return {};
  std::string header(kHeaderBytes, '\0');
  const int code = file->pMethods->xRead(file, header.data(), static_cast<int>(header.size()), 0);
  return code == SQLITE_OK ? header : std::string();
}

void refuse_other_program(const std::string& path) {
  throw StorageError(Kind::corrupt,
                     fmt::format("refused to open {}: it is a database, but of another program. "
                                 "Nothing in it was changed; choose another path.",
                                 path));
}

Connection::~Connection() {
  kept_.clear();
  sqlite3_close_v2(handle_);
}

void Connection::execute(const std::string& sql) {
  errno = 0;
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "execute \"" + sql.substr(0, 60) + "\"");
}

void Connection::roll_back() noexcept {
  sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

std::int64_t Connection::read_one_integer(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.read_integer() : 0;
}

Statement& Connection::kept(std::string_view sql) {
  auto found = kept_.find(sql);
  if (found == kept_.end()) {
    found = kept_.emplace(std::string(sql), std::make_unique<Statement>(*this, sql, true)).first;
  }
  found->second->reset();
  return *found->second;
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(handle_);
}

std::int64_t Connection::last_insert_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

bool Connection::is_in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

void Connection::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
}

bool Connection::try_truncate_wal() {
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) return true;
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) return false;
  fail(code, "empty the write-ahead log");
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
  connection_.kept(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN").run();
}

Transaction::~Transaction() {
  // SQLite itself rolls back after some errors (a full disk); then there is nothing left to do.
  if (is_open_ && connection_.is_in_transaction()) connection_.roll_back();
}

void Transaction::commit() {
  connection_.kept("COMMIT").run();
  is_open_ = false;
}

}  // namespace llmb::storage
