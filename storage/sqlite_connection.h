// The one place that calls SQLite's C API: a connection, a prepared statement and a transaction,
// each released by its destructor. Every failure is thrown as a StorageError that names the file.
//
// None of these is thread-safe. A Statement and a Transaction must not outlive their Connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/storage_error.h"

struct sqlite3;
struct sqlite3_file;
struct sqlite3_stmt;

namespace llmb::storage {

class Connection;

// Parameters are bound, and columns read, one after the other from the left.
class Statement {
 public:
  Statement(Connection& connection, std::string_view sql, bool is_kept = false);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  // Binding. Text is copied. A NaN becomes NULL, as SQLite has it.
  Statement& integer(std::int64_t value);
  Statement& real(double value);
  Statement& text(std::string_view value);
  // The same without a copy: the text stands until the statement has run.
  Statement& borrowed_text(std::string_view value);
  Statement& null();
  Statement& boolean(bool value) { return integer(value ? 1 : 0); }
  Statement& bits(std::uint64_t value) { return integer(static_cast<std::int64_t>(value)); }
  template <typename Integer>
  Statement& integer(const std::optional<Integer>& value) {
    return value ? integer(static_cast<std::int64_t>(*value)) : null();
  }
  Statement& real(const std::optional<double>& value) { return value ? real(*value) : null(); }
  template <typename Text>
  Statement& text(const std::optional<Text>& value) {
    return value ? text(std::string_view(*value)) : null();
  }

  // True: the next row stands ready. False: there is none, and the statement is reset.
  bool step();
  // Executes a statement that gives no rows.
  void run();
  // Ready to be bound and stepped anew. Ends the read that an unfinished SELECT holds open.
  void reset();

  // Reading the columns of the row. NULL reads as 0 or "" where no optional is asked for.
  bool next_is_null() const;
  std::int64_t read_integer();
  double read_real();
  std::string read_text();
  bool read_boolean() { return read_integer() != 0; }
  std::uint64_t read_bits() { return static_cast<std::uint64_t>(read_integer()); }
  std::optional<std::int64_t> read_optional_integer();
  std::optional<double> read_optional_real();
  std::optional<std::string> read_optional_text();

 private:
  void check_bound(int code);
  void bind_text(std::string_view value, void (*keeping)(void*));

  Connection* connection_;
  sqlite3_stmt* handle_ = nullptr;
  int next_parameter_ = 1;
  int next_column_ = 0;
};

class Connection {
 public:
  enum class Mode { read_only, read_write };  // read_write creates the file
  static constexpr std::chrono::milliseconds kPatience{5'000};

  // Refuses a database of another program before it reads or writes anything of it.
  Connection(std::string path, Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& path() const { return path_; }
  // Any number of statements without parameters.
  void execute(const std::string& sql);
  // The first column of the first row; 0 when there is none.
  std::int64_t read_one_integer(std::string_view sql);
  // A statement that is prepared once and kept. It comes reset.
  Statement& kept(std::string_view sql);
  // Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const;
  std::int64_t last_insert_id() const;
  bool is_in_transaction() const;
  // Also where there is no memory left. What goes wrong matters less than what went wrong before.
  void roll_back() noexcept;
  // How long a locked database is waited for before that is an error.
  void set_patience(std::chrono::milliseconds patience);
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

  // `doing`: what was tried, after "cannot".
  [[noreturn]] void fail(int code, std::string_view doing) const;

 private:
  friend class Statement;
  sqlite3_file* own_file();

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> kept_;
};

[[noreturn]] void refuse_other_program(const std::string& path);

// Rolls back unless commit() was reached.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool is_open_ = true;
};

}  // namespace llmb::storage
