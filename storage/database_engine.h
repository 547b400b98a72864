// OpenDatabase: a connection with what its engine needs around it (a file's lock, pages and
// write-ahead log; a session's lock), so that records and queries need not know the engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/root_claim.h"
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
  // Of a reader: false where what it reads from here on would be of a file that has changed, which
  // it cannot see. Another one is to be opened then.
  virtual bool is_current() { return true; }
  // Of a writer: takes what it was opened to write, before it writes anything. Where it is not
  // taken it may be tried again. Where the database is one process's alone, or one transaction at a
  // time is enough, there is nothing to take. `inner_rest`: as Writer::claim_root().
  virtual ClaimOutcome claim(std::chrono::milliseconds /*inner_rest*/) {
    return ClaimOutcome::taken;
  }
  virtual TreeHolder holder() { return {}; }
  // As of the last claim.
  virtual std::vector<std::string> left_out() { return {}; }
  // Throws StorageError taken_over where claim() would leave other trees out by now, or another has
  // called outdate_tree().
  virtual void require_same_neighbours() {}
  // To be called inside a transaction after which more of a watched tree is to be read than was,
  // without a change of its files: whoever has claimed it loses it, and begins it anew from what is
  // stored. A file's one writer is the caller.
  virtual void outdate_tree(const std::string& /*path*/) {}
  // The same of what agents push: they are to compare, by another agents_mark().
  virtual void outdate_agents() {}
  virtual std::int64_t agents_mark() { return 0; }
  // Whether this connection, of all that have the database open, is the one for that task, until it
  // ends. Cheap once it is. In a database that one process alone writes it always is.
  virtual bool leads(const std::string& /*task*/) { return true; }
  // To be called inside a transaction that raises the data's revision: whoever listens hears of it
  // when it is committed (change_listener.h), where the engine can tell. Throws StorageError where
  // the database lacks what this writer committed last (`lost`), or another has written what it
  // claimed (`taken_over`), as far as the engine knows.
  virtual void announce(const DataChange& /*change*/) {}
  // The same, inside a transaction that changes a job.
  virtual void announce_job(JobRowId /*job*/) {}
  // To be called when a transaction that raised the revision was committed.
  virtual void note_committed() {}
  // To be called after each commit of the writer: keeps the write-ahead log small.
  virtual void bound_log() {}
  // To be called where nobody waits for the writer: does what a later commit would take the time
  // for otherwise.
  virtual void use_rest() {}
  virtual DatabaseBytes bytes() = 0;
};

}  // namespace llmb::storage
