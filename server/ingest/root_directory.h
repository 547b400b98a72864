// RootDirectory: the door to one watched tree. Whatever a path below the root says, nothing
// outside of the root is opened: no symlink inside the tree is followed, neither to a file nor to
// a directory (a link's target is found under its own path when it lies in the tree; a tree
// elsewhere is watched by naming it as a root). The root itself may be a symlink.
//
// Safe to use from several threads at once.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"

namespace llmb::ingest {

// What stat says of a regular file.
struct FileFacts {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  // since the epoch
  std::int64_t changed_ns = 0;   // the inode's own change time

  // As a time is stored.
  std::int64_t modified_us() const { return modified_ns / 1'000; }
};
FileFacts file_facts(const struct stat& status);

// An open file or directory, or the errno that says why not.
struct OpenResult {
  parser::FileDescriptor fd;
  int error = 0;
};

// Of the errnos below: no regular file (or no directory) has that name any more.
bool means_no_such_file(int error);

class RootDirectory {
 public:
  enum class Method {
    detect,      // openat2 where the kernel has it
    components,  // one openat a path component: kernels before 5.6
  };

  static parser::Result<RootDirectory> open(const std::string& path,
                                            Method method = Method::detect);

  // `relative_path` "" is the root itself. Fails with ELOOP at a symlink and ENOTDIR at a file.
  OpenResult open_directory(const std::string& relative_path) const;

  // A handle for fstat(2) and fstatat(2) only, which costs less.
  OpenResult look_at_directory(const std::string& relative_path) const;
  // Nothing and errno where there is no such directory. A link on the way is followed: a hint of
  // what to open, and no more.
  std::optional<struct stat> stat_directory(const std::string& relative_path) const;

  // Opens for reading, never blocking. Anything but a regular file is EISDIR (a directory) or
  // ENXIO (a FIFO, socket or device), and is not opened for reading at all.
  OpenResult open_file(const std::string& relative_path) const;

  // Nothing and errno where there is no such regular file (EISDIR, ENXIO and ELOOP as above).
  std::optional<FileFacts> stat_file(const std::string& relative_path) const;

  int fd() const { return fd_.get(); }
  std::uint64_t device() const { return device_; }
  std::uint64_t inode() const { return inode_; }

 private:
  OpenResult open_beneath(const std::string& relative_path, int flags) const;
  OpenResult open_by_components(const std::string& relative_path, int flags) const;

  parser::FileDescriptor fd_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  Method method_ = Method::detect;
};

}  // namespace llmb::ingest
