// A database that stands still: its last writer has closed it, and who reads it may not write there
// (another user's, a file system that is mounted to be read). SQLite would make a write-ahead log
// and its index beside it all the same, which then belong to the reader and keep the owner out, or
// would refuse where the folder lets nobody make files. Such a file is read as it is ("immutable"),
// and that it still is as it was is asked with every page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace llmb::storage {

// What changes when somebody writes to a file, or puts another one in its place.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size_bytes = 0;
  std::int64_t changed_at_s = 0;
  std::int64_t changed_at_ns = 0;

  bool operator==(const FileState&) const = default;
};

// Nothing where there is no such file.
std::optional<FileState> state_of_file(const char* path);

// As what the database at `path`, which is canonical, stands still: where it has no write-ahead
// log, and this process may not write it or beside it.
std::optional<FileState> still_state(const std::string& path);

// The name by which SQLite opens it so, with SQLITE_OPEN_URI.
std::string still_uri(const std::string& path);

}  // namespace llmb::storage
