#include "server/ingest/root_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

namespace llmb::ingest {
namespace {

int retry_on_signal(auto&& call) {
  int result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// 0 for a regular file, else the errno of RootDirectory's contract.
int file_type_error(mode_t mode) {
  if (S_ISREG(mode)) return 0;
  if (S_ISDIR(mode)) return EISDIR;
  if (S_ISLNK(mode)) return ELOOP;
  return ENXIO;
}

}  // namespace

bool means_no_such_file(int error) {
  return error == ENOENT || error == ENOTDIR || error == EISDIR || error == ELOOP || error == ENXIO;
}

FileFacts file_facts(const struct stat& status) {
  FileFacts facts;
  facts.device = status.st_dev;
  facts.inode = status.st_ino;
  facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
  facts.modified_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
  facts.changed_ns = status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec;
  return facts;
}

parser::Result<RootDirectory> RootDirectory::open(const std::string& path, Method method) {
  RootDirectory root;
  root.method_ = method;
  root.fd_ = parser::FileDescriptor(retry_on_signal(
      [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK); }));
  if (!root.fd_.is_open()) {
    return parser::fail(fmt::format("cannot open the root {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  if (fstat(root.fd_.get(), &status) != 0) {
    return parser::fail(fmt::format("cannot examine the root {}: {}", path, std::strerror(errno)));
  }
  root.device_ = status.st_dev;
  root.inode_ = status.st_ino;
  return root;
}

OpenResult RootDirectory::open_directory(const std::string& relative_path) const {
  return open_beneath(relative_path.empty() ? "." : relative_path,
                      O_RDONLY | O_DIRECTORY | O_NONBLOCK);
}

OpenResult RootDirectory::look_at_directory(const std::string& relative_path) const {
  return open_beneath(relative_path.empty() ? "." : relative_path, O_PATH | O_DIRECTORY);
}

std::optional<struct stat> RootDirectory::stat_directory(const std::string& relative_path) const {
  struct stat status {};
  const char* const path = relative_path.empty() ? "." : relative_path.c_str();
  if (fstatat(fd_.get(), path, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    return std::nullopt;
  }
  if (S_ISDIR(status.st_mode)) return status;
  errno = ENOTDIR;
  return std::nullopt;
}

OpenResult RootDirectory::open_file(const std::string& relative_path) const {
  // O_PATH first: opening a FIFO or a device for reading has effects, even when non-blocking.
  OpenResult handle = open_beneath(relative_path, O_PATH);
  if (handle.error != 0) return handle;
  struct stat status {};
  if (fstat(handle.fd.get(), &status) != 0) return {parser::FileDescriptor(), errno};
  if (const int error = file_type_error(status.st_mode)) return {parser::FileDescriptor(), error};
  const std::string self = fmt::format("/proc/self/fd/{}", handle.fd.get());
  const int fd = retry_on_signal(
      [&] { return ::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); });
  if (fd >= 0) return {parser::FileDescriptor(fd), 0};
  if (errno != ENOENT) return {parser::FileDescriptor(), errno};
  // No /proc here: open by name again, and make sure that it is still the same file.
  OpenResult again = open_beneath(relative_path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat reopened {};
  if (again.error != 0) return again;
  if (fstat(again.fd.get(), &reopened) != 0) return {parser::FileDescriptor(), errno};
  if (reopened.st_dev != status.st_dev || reopened.st_ino != status.st_ino) {
    return {parser::FileDescriptor(), ESTALE};
  }
  return again;
}

std::optional<FileFacts> RootDirectory::stat_file(const std::string& relative_path) const {
  struct stat status {};
  if (fstatat(fd_.get(), relative_path.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)) {
    return std::nullopt;
  }
  if (const int error = file_type_error(status.st_mode)) {
    errno = error;
    return std::nullopt;
  }
  return file_facts(status);
}

OpenResult RootDirectory::open_beneath(const std::string& relative_path, int flags) const {
  flags |= O_CLOEXEC | O_NOFOLLOW;
  if (method_ == Method::components) return open_by_components(relative_path, flags);
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto fd = syscall(SYS_openat2, fd_.get(), relative_path.c_str(), &how, sizeof how);
    if (fd >= 0) return {parser::FileDescriptor(static_cast<int>(fd)), 0};
    // EAGAIN: something was renamed meanwhile, and the kernel could not be sure.
    if (errno == EINTR || errno == EAGAIN) continue;
    // ENOSYS: an old kernel. EPERM: a container's filter that does not know the call.
    if (errno == ENOSYS || errno == EPERM) return open_by_components(relative_path, flags);
    return {parser::FileDescriptor(), errno};
  }
  return open_by_components(relative_path, flags);
}

OpenResult RootDirectory::open_by_components(const std::string& relative_path, int flags) const {
  parser::FileDescriptor parent;
  int parent_fd = fd_.get();
  std::size_t begin = 0;
  while (begin <= relative_path.size()) {
    const std::size_t slash = std::min(relative_path.find('/', begin), relative_path.size());
    const std::string part = relative_path.substr(begin, slash - begin);
    if (part.empty() || part == "..") return {parser::FileDescriptor(), EXDEV};
    const bool is_last = slash == relative_path.size();
    const int part_flags = is_last ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = retry_on_signal([&] { return ::openat(parent_fd, part.c_str(), part_flags); });
    if (fd < 0) return {parser::FileDescriptor(), errno};
    parser::FileDescriptor opened(fd);
    if (is_last && (flags & O_PATH) != 0) {
      // O_PATH with O_NOFOLLOW opens the link itself, which openat2 refuses.
      struct stat status {};
      if (fstat(fd, &status) != 0) return {parser::FileDescriptor(), errno};
      if (S_ISLNK(status.st_mode)) return {parser::FileDescriptor(), ELOOP};
    }
    if (is_last) return {std::move(opened), 0};
    parent = std::move(opened);
    parent_fd = parent.get();
    begin = slash + 1;
  }
  return {parser::FileDescriptor(), ENOENT};
}

}  // namespace llmb::ingest
