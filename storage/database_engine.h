// OpenDatabase: a connection with what its engine needs around it (a file's lock, pages and
// write-ahead log; a session's lock), so that records and queries need not know the engine.
#pragma once

#include <cstdint>
#include <functional>

#include "storage/connection.h"
#include "storage/run_change.h"

namespace llmb::storage {

struct DatabaseBytes {
  std::uint64_t database = 0;
  std::uint64_t write_ahead_log = 0;  // 0 where that is not the database's own
};

// Throws StorageError where a database is not to be written: called when a writer has the lock, and
// nothing of the database has been changed.
using AdmitDatabase = std::function<void(Connection&)>;

class OpenDatabase {
 public:
  virtual ~OpenDatabase() = default;
  virtual Connection& connection() = 0;
  // To be called before each commit. Throws StorageError where what is written would be lost, or
  // another writer may be at work.
  virtual void check() {}
  // To be called inside a transaction that raises the data's revision: whoever listens hears of it
  // when it is committed (change_listener.h), where the engine can tell.
  virtual void announce(const DataChange& /*change*/) {}
  // To be called after each commit of the writer: keeps the write-ahead log small.
  virtual void bound_log() {}
  virtual DatabaseBytes bytes() = 0;
};

}  // namespace llmb::storage
