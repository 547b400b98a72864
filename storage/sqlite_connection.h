// A connection to an SQLite file: the one place, beside its page checksums, that calls SQLite's C
// API.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.h"
#include "storage/sqlite_dialect.h"
#include "storage/still_database.h"

struct sqlite3;
struct sqlite3_file;

namespace llmb::storage {

class SqliteConnection : public Connection {
 public:
  enum class Mode { read_only, read_write };  // read_write creates the file
  static constexpr std::chrono::milliseconds kPatience{5'000};

  // Refuses a database of another program before it reads or writes anything of it, and what is no
  // database.
  SqliteConnection(std::string file, Mode mode);
  ~SqliteConnection() override;

  const SqlDialect& dialect() const override { return sqlite_dialect(); }
  std::unique_ptr<EngineStatement> prepare(std::string_view sql, bool is_kept) override;
  void execute(const std::string& sql) override;
  std::int64_t changes() override;
  void begin(TransactionKind kind) override;
  void commit() override;
  bool is_in_transaction() const override;
  void roll_back() noexcept override;

  const std::string& path() const { return place(); }
  // How long a locked database is waited for before that is an error.
  void set_patience(std::chrono::milliseconds patience);
  // False for a file that was opened as standing still (still_database.h), and does so no longer.
  bool is_current() const;
  // The first bytes of the file itself, past any cache; empty where there are none. See
  // database_header.h.
  std::string read_header();
  // Whether each page ends with its checksum (page_checksums.h).
  bool has_page_checksums();
  // Of the file itself: "page 7 (bytes 24576 to 28671)" for each that is not as it was written. One
  // that stands in the write-ahead log, too, is read from there and written anew: a loss of power
  // in the middle of that leaves it torn, and harms nobody.
  std::vector<std::string> changed_pages(std::size_t most);
  // Moves the write-ahead log into the database and empties it. False: a reader was in the way.
  bool try_truncate_wal();
  // From now on a commit copies the log into the database where it has as many pages.
  void copy_wal_at(int pages);
  // How many pages it had at the last commit of this connection.
  int wal_pages() const { return wal_pages_; }
  // Copies the log as far as no reader is in the way. What fails, a full disk, say, the next commit
  // meets again, and says.
  void try_copy_wal();

  // `doing`: what was tried, after "cannot".
  [[noreturn]] void fail(int code, std::string_view doing) const;

 private:
  void open(Mode mode);
  void set_up(Mode mode);
  sqlite3_file* own_file();
  // Empty where the file has not as many.
  std::string read_first(std::size_t count);

  sqlite3* handle_ = nullptr;
  std::optional<FileState> still_as_;  // of a file that was opened as standing still
  int wal_pages_ = 0;
  int wal_pages_max_ = 0;
};

[[noreturn]] void refuse_other_program(const std::string& path);

}  // namespace llmb::storage
