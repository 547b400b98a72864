#include "server/ingest/file_system_kind.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace llmb::ingest {
namespace {

// f_type of statfs(2), for file systems whose writers are all on this host. A list of what is
// known to be local: a new network file system then costs speed, not data.
constexpr std::array<unsigned long, 11> kLocalMagics = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlayfs
    0x2FC12FC1,  // zfs
    0xF2F52010,  // f2fs
    0xCA451A4E,  // bcachefs
    0x3153464A,  // jfs
    0x52654973,  // reiserfs
};

}  // namespace

FileSystemKind file_system_kind_of_magic(unsigned long magic) {
  const bool is_local =
      std::find(kLocalMagics.begin(), kLocalMagics.end(), magic) != kLocalMagics.end();
  return is_local ? FileSystemKind::local : FileSystemKind::remote;
}

FileSystemKind file_system_kind(int fd) {
  struct statfs status {};
  if (fstatfs(fd, &status) != 0) return FileSystemKind::remote;
  // f_type is signed on some architectures; the magics have 32 bits.
  return file_system_kind_of_magic(static_cast<unsigned long>(status.f_type) & 0xFFFFFFFFUL);
}

}  // namespace llmb::ingest
