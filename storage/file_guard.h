// FileGuard: notices when a database is no longer the file that was opened: deleted, renamed,
// replaced or truncated, or its write-ahead log taken away. What is written then would be lost with
// the process, or spoil another file. By stat(2) only: never opens the file, because closing it
// would drop SQLite's own locks.
#pragma once

#include <cstdint>

#include "storage/sqlite_connection.h"

namespace llmb::storage {

class FileGuard {
 public:
  // `connection` outlives it. Throws StorageError io where its file cannot be examined.
  explicit FileGuard(SqliteConnection& connection);

  // Throws StorageError lost, saying what happened. To be called before each commit.
  void check();

 private:
  void check_log();
  bool is_as_long_as_its_header_says(std::uint64_t size_bytes);

  SqliteConnection& connection_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_bytes_ = 0;  // when it was last checked
  std::uint64_t log_inode_ = 0;   // 0: there was none yet
};

}  // namespace llmb::storage
