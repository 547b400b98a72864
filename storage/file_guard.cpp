#include "storage/file_guard.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "storage/database_header.h"

namespace llmb::storage {
namespace {

[[noreturn]] void fail_lost(const std::string& path, std::string_view what) {
  throw StorageError(
      StorageError::Kind::lost,
      fmt::format("the database {} {}. Nothing more is written to it. Put the same file back, and "
                  "writing goes on; or start llmb-report anew: the logs are read again, but jobs "
                  "and tokens are only in that file.",
                  path, what));
}

}  // namespace

FileGuard::FileGuard(SqliteConnection& connection) : connection_(connection) {
  struct stat found {};
  const std::string& path = connection.path();
  if (stat(path.c_str(), &found) != 0) {
    throw StorageError(StorageError::Kind::io, fmt::format("cannot examine the database {}: {}.",
                                                           path, std::strerror(errno)));
  }
  device_ = found.st_dev;
  inode_ = found.st_ino;
  size_bytes_ = static_cast<std::uint64_t>(found.st_size);
}

void FileGuard::check() {
  struct stat found {};
  const std::string& path = connection_.path();
  if (stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return;  // the write itself will say it better
    fail_lost(path, "was deleted or renamed while it was in use");
  }
  if (found.st_dev != device_ || found.st_ino != inode_) {
    fail_lost(path, "was replaced by another file while it was in use");
  }
  const auto size_bytes = static_cast<std::uint64_t>(found.st_size);
  // It also shrinks when another program vacuums it; then its header says so.
  if (size_bytes < size_bytes_ && !is_as_long_as_its_header_says(size_bytes)) {
    fail_lost(path, fmt::format("was cut from {} to {} bytes while it was in use", size_bytes_,
                                size_bytes));
  }
  size_bytes_ = size_bytes;
  check_log();
}

bool FileGuard::is_as_long_as_its_header_says(std::uint64_t size_bytes) {
  const std::uint64_t expected = bytes_by_header(connection_.read_header());
  return expected != 0 && size_bytes >= expected;
}

// SQLite keeps one write-ahead log for as long as a connection lives.
void FileGuard::check_log() {
  struct stat found {};
  const bool is_there = stat((connection_.path() + "-wal").c_str(), &found) == 0;
  if (log_inode_ == 0) {
    if (is_there) log_inode_ = found.st_ino;
    return;
  }
  if (!is_there || found.st_ino != log_inode_) {
    fail_lost(connection_.path(),
              "has lost its write-ahead log (the file of the same name with "
              "-wal at its end) while it was in use");
  }
}

}  // namespace llmb::storage
