// A connection to a database, a prepared statement and a transaction, each released by its
// destructor: the same over SQLite (sqlite_connection.h) and PostgreSQL (postgresql_connection.h).
// Every failure is thrown as a StorageError that names the database.
//
// One text of SQL serves both engines where they agree; where they don't, SqlDialect has the words.
// Parameters are `?`, or `?1`, `?2` where one is used twice. What SQLite stores as NULL stays NULL
// in both: a NaN.
//
// None of these is thread-safe. A Statement and a Transaction must not outlive their Connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/sql_dialect.h"
#include "storage/storage_error.h"

namespace llmb::storage {

class Connection;

// One engine's prepared statement. Parameters and columns are counted from 0.
class EngineStatement {
 public:
  virtual ~EngineStatement() = default;
  virtual void bind_integer(int parameter, std::int64_t value) = 0;
  virtual void bind_real(int parameter, double value) = 0;
  // Borrowed: the text stands until the statement has run; otherwise it is copied.
  virtual void bind_text(int parameter, std::string_view value, bool is_borrowed) = 0;
  virtual void bind_bytes(int parameter, std::string_view value) = 0;
  virtual void bind_null(int parameter) = 0;
  // True: the next row stands ready. False: there is none, and the statement is reset.
  virtual bool step() = 0;
  // Steps to the end. An engine may go on before that is reached, and throw what becomes of it from
  // whatever is asked of the connection next, the commit at the latest.
  virtual void run() {
    while (step()) {
    }
  }
  virtual void reset() = 0;
  virtual bool is_null(int column) const = 0;
  // NULL reads as 0 or "". A condition reads as 1 or 0.
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::string text(int column) const = 0;
  virtual std::string bytes(int column) const = 0;
};

// Parameters are bound, and columns read, one after the other from the left.
class Statement {
 public:
  Statement(Connection& connection, std::string_view sql, bool is_kept = false);

  // Binding. Text is copied. A NaN becomes NULL.
  Statement& integer(std::int64_t value);
  Statement& real(double value);
  Statement& text(std::string_view value);
  // The same without a copy: the text stands until the statement has run.
  Statement& borrowed_text(std::string_view value);
  // Of a column of bytes, which hold anything. Copied.
  Statement& bytes(std::string_view value);
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
  // Executes a statement that gives no rows. Inside a transaction that writes, what goes wrong may
  // be thrown by a later call, the commit at the latest; nothing of the transaction is kept then.
  void run();
  // Executes one that gives a row, an id that was made: INSERT … RETURNING id.
  std::int64_t run_for_id();
  // Ready to be bound and stepped anew. Ends the read that an unfinished SELECT holds open.
  void reset();

  // Reading the columns of the row. NULL reads as 0 or "" where no optional is asked for.
  bool next_is_null() const { return engine_->is_null(next_column_); }
  std::int64_t read_integer() { return engine_->integer(next_column_++); }
  double read_real() { return engine_->real(next_column_++); }
  std::string read_text() { return engine_->text(next_column_++); }
  std::string read_bytes() { return engine_->bytes(next_column_++); }
  bool read_boolean() { return read_integer() != 0; }
  std::uint64_t read_bits() { return static_cast<std::uint64_t>(read_integer()); }
  std::optional<std::int64_t> read_optional_integer();
  std::optional<double> read_optional_real();
  std::optional<std::string> read_optional_text();

 private:
  std::unique_ptr<EngineStatement> engine_;
  int next_parameter_ = 0;
  int next_column_ = 0;
};

// Takes rows of one table, each value in turn; what it throws leaves none of them. Without finish()
// none is written.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void integer(std::int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void borrowed_text(std::string_view value) = 0;  // needed for this call only
  virtual void bytes(std::string_view value) = 0;
  virtual void null() = 0;
  virtual void end_row() = 0;
  virtual void finish() = 0;
};

enum class TransactionKind { read, write };

class Connection {
 public:
  explicit Connection(std::string place) : place_(std::move(place)) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The file's path, or the URL without its password: how messages name the database.
  const std::string& place() const { return place_; }
  virtual const SqlDialect& dialect() const = 0;
  virtual std::unique_ptr<EngineStatement> prepare(std::string_view sql, bool is_kept) = 0;
  // Any number of statements without parameters.
  virtual void execute(const std::string& sql) = 0;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  virtual std::int64_t changes() = 0;

  // Inside a transaction, in which nothing else is asked for until the sink is gone. Null: the
  // engine has no quicker way than INSERT.
  virtual std::unique_ptr<RowSink> row_sink(std::string_view /*table*/,
                                            std::string_view /*columns*/) {
    return nullptr;
  }

  // Of write transactions there is one at a time: another waits until this one has ended.
  virtual void begin(TransactionKind kind) = 0;
  virtual void commit() = 0;
  virtual bool is_in_transaction() const = 0;
  // Also where there is no memory left. What goes wrong matters less than what went wrong before.
  virtual void roll_back() noexcept = 0;

  // The first column of the first row; 0 when there is none.
  std::int64_t read_one_integer(std::string_view sql);
  // A statement that is prepared once and kept. It comes reset.
  Statement& kept(std::string_view sql);

 protected:
  // To be called by the destructor of an engine, whose statements end before its connection.
  void drop_kept() { kept_.clear(); }

 private:
  std::string place_;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> kept_;
};

// Rolls back unless commit() was reached.
class Transaction {
 public:
  using Kind = TransactionKind;
  Transaction(Connection& connection, Kind kind) : connection_(connection) {
    connection_.begin(kind);
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool is_open_ = true;
};

}  // namespace llmb::storage
