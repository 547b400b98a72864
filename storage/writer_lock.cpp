#include "storage/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "storage/storage_error.h"

namespace llmb::storage {
namespace {

StorageError::Kind kind_of(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT ? StorageError::Kind::disk_full
                                                          : StorageError::Kind::io;
}

std::string read_holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size() - 1, 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  holder.erase(holder.find_last_not_of('\n') + 1);
  return holder.empty() ? "another process" : "process " + holder;
}

}  // namespace

WriterLock::WriterLock(const std::string& database_path) {
  const std::string path = database_path + ".lock";
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor_ < 0) {
    throw StorageError(kind_of(errno), "cannot create the lock file " + path + ": " +
                                           std::strerror(errno) +
                                           ". Check that its folder exists and is writable.");
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = read_holder(descriptor_);
    close(descriptor_);
    if (error == EWOULDBLOCK) {
      throw StorageError(StorageError::Kind::busy_elsewhere,
                         "cannot write to " + database_path + ": " + holder +
                             " is already writing to it. Stop that one, or give this one a "
                             "database of its own.");
    }
    throw StorageError(StorageError::Kind::io,
                       "cannot lock " + path + ": " + std::strerror(error) + ".");
  }
  // The number only serves the message above: a full disk must not keep the writer from starting.
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, pid.data(), pid.size(), 0) < 0) return;
}

WriterLock::~WriterLock() {
  close(descriptor_);
}

}  // namespace llmb::storage
