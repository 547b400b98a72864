// DatabaseCheck: what can be found wrong with a database without changing it. The daemon itself
// checks only the small tables of a large file when it starts; this reads every page. Of a
// PostgreSQL database it counts the steps; pages, references and room are its server's to keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/storage_error.h"

namespace llmb::storage {

struct CheckedRoot {
  std::string path;
  bool was_read = false;  // a log of it was seen, in the last scan or as a run that is there
  // Of "", the root itself, and parser::kTreeFolders: where logs of runs lie that are there, as far
  // as is known.
  std::vector<std::string> folders_with_logs;
};

// Runs whose logs are there, as far as is known, and which an earlier reading told
// (parser/reader/reading.h).
struct EarlierReadings {
  std::int64_t watched = 0;
  std::int64_t pushed = 0;
};

struct DatabaseCheck {
  bool is_file = true;  // false: of a PostgreSQL server; what its files say is not known
  std::int64_t schema_version = 0;
  std::int64_t schema_version_newest = 0;  // that this program knows; older ones are migrated
  std::uint64_t database_bytes = 0;
  std::uint64_t wal_bytes = 0;
  std::uint64_t disk_free_bytes = 0;  // of its file system, for this user
  bool has_page_checksums = false;    // databases of before this was kept have none
  // One sentence each, up to kFindingsMax of a kind; empty where all is well.
  using Sentences = std::vector<std::string>;
  Sentences damage;  // pages, rows and indices that contradict one another
  // Nothing: not asked, or a table that cannot be read; then `damage` has why of the first.
  std::optional<std::int64_t> runs;
  std::optional<std::int64_t> steps;
  std::optional<Sentences> dangling;       // rows that refer to nothing
  std::optional<Sentences> miscounted;     // runs whose number of steps is not that of their rows
  std::optional<Sentences> wrong_tallies;  // of runs, by which lists count
  std::optional<std::vector<CheckedRoot>> roots;  // the watched trees
  std::optional<Sentences> parked;                // logs that could not be read, each with why
  // Nothing also of a schema of before it was kept.
  std::optional<EarlierReadings> earlier_readings;

  // A file without a table, as of a database that is yet to be made: of it nothing is asked.
  bool is_empty() const { return is_file && schema_version == 0; }
};
inline constexpr int kFindingsMax = 20;

enum class CheckDepth {
  quick,     // not whether each index has each row, nor the steps' numbers
  thorough,  // reads the whole file, some seconds a gigabyte
};

// Any process may be writing meanwhile. Throws StorageError where the file cannot be opened, is
// not ours, or is of a newer schema.
DatabaseCheck check_database(const std::string& place, CheckDepth depth);

}  // namespace llmb::storage
