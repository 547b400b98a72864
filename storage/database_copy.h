// DatabaseCopy: all that a database holds, written into another one of whichever engine. It is read
// in one transaction, beside a daemon that may go on writing. A run is written with all its rows in
// one transaction; whoever breaks off and begins again keeps the runs that are there and have not
// changed since. Until finish() the target has a mark, with which nothing else opens it.
//
// What is there is compared by whole rows of `run`, because each change of a run raises the
// revision in its row, and by the text of its log, which comes without. What else changes by itself
// (jobs, tokens, what was pushed) is written at the end, anew each time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/table_sum.h"

namespace llmb::storage {

// One table, as read from both.
struct CopiedTable {
  std::string name;
  TableSum from;
  TableSum to;
  bool is_same() const { return from == to; }
};

// In the order in which they are called. All throw StorageError. Not thread-safe.
class DatabaseCopy {
 public:
  // Opens both, and compares the runs of a copy that was begun; those that changed or are gone in
  // `from` are removed from `to`. Throws for a `from` of an older schema, a `to` that is not new
  // and no begun copy, and where `to` has another writer.
  DatabaseCopy(const std::string& from, const OpenOptions& to);
  ~DatabaseCopy();
  DatabaseCopy(const DatabaseCopy&) = delete;
  DatabaseCopy& operator=(const DatabaseCopy&) = delete;

  // The copy was begun by an earlier call.
  bool was_begun() const;
  struct Runs {
    std::int64_t standing = 0;  // written before, and as they are
    std::int64_t removed = 0;   // written before, and changed or gone since
    std::int64_t missing = 0;   // to be written, with so many steps
    std::int64_t missing_steps = 0;
  };
  const Runs& runs() const;

  // Writes some of the missing runs. Returns how many; 0: all are there.
  std::int64_t copy_some_runs();
  // The rest: all tables whose rows change without their runs, in one transaction.
  void copy_rest();
  // One table each time, by reading all of it on both sides. Nothing: that was the last.
  std::optional<CopiedTable> check_next_table();
  // How many tables there are to check.
  std::size_t table_count() const;
  // Takes the mark away: `to` is a database as any other. To be called where all tables are the
  // same.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::storage
