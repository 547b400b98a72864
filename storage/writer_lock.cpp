#include "storage/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

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

[[noreturn]] void refuse_second_writer(const std::string& path, const std::string& holder) {
  throw StorageError(StorageError::Kind::busy_elsewhere,
                     fmt::format("cannot write to {}: {} is already writing to it. Stop that one, "
                                 "or give this one a database of its own.",
                                 path, holder));
}

}  // namespace

WriterLock::WriterLock(const std::string& database_path) : database_path_(database_path) {
  const std::string path = database_path + ".lock";
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor_ < 0) {
    throw StorageError(kind_of(errno), fmt::format("cannot create the lock file {}: {}. Check that "
                                                   "its folder exists and is writable.",
                                                   path, std::strerror(errno)));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = read_holder(descriptor_);
    close(descriptor_);
    if (error == EWOULDBLOCK) {
      refuse_second_writer(database_path, holder);
    }
    throw StorageError(StorageError::Kind::io,
                       fmt::format("cannot lock {}: {}.", path, std::strerror(error)));
  }
  // The number only serves the message above: a full disk must not keep the writer from starting.
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(descriptor_, 0) == 0) std::ignore = pwrite(descriptor_, pid.data(), pid.size(), 0);
  try {
    hold_inode();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

void WriterLock::hold_inode() {
  struct stat found {};
  if (name_ >= 0 || stat(database_path_.c_str(), &found) != 0) return;
  const std::string name = fmt::format("llmb-report-writer-{}-{}", found.st_dev, found.st_ino);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A leading zero byte: a name of the kernel's, with no file.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  name_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (name_ < 0) return;  // no such sockets here: the lock file alone must do
  if (bind(name_, reinterpret_cast<const sockaddr*>(&address), length) == 0) return;
  const int error = errno;
  close(std::exchange(name_, -1));
  if (error == EADDRINUSE) {
    refuse_second_writer(database_path_,
                         "another process (by another name of the same file, or "
                         "after the lock file was deleted)");
  }
}

WriterLock::~WriterLock() {
  if (name_ >= 0) close(name_);
  close(descriptor_);
}

}  // namespace llmb::storage
