#include "storage/local_disk.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "storage/storage_error.h"

namespace llmb::storage {
namespace {

// Numbers as in linux/magic.h and, for those outside the kernel's tree, their own headers.
constexpr std::array<std::uint32_t, 16> kLocalMagics = {
    0x0000EF53,  // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x2FC12FC1,  // zfs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlay
    0xF2F52010,  // f2fs
    0xCA451A4E,  // bcachefs
    0x3153464A,  // jfs
    0x52654973,  // reiserfs
    0x00003434,  // nilfs
    0x2011BAB0,  // exfat
    0x00004D44,  // vfat
    0x7366746E,  // ntfs3
    0x61756673,  // aufs
};

}  // namespace

bool is_local_file_system(std::uint32_t magic) {
  return std::find(kLocalMagics.begin(), kLocalMagics.end(), magic) != kLocalMagics.end();
}

void require_local_disk(const std::string& database_path) {
  const std::string parent = std::filesystem::path(database_path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  struct statfs found {};
  if (statfs(folder.c_str(), &found) != 0) {
    throw StorageError(StorageError::Kind::io, "cannot look at the folder of the database, " +
                                                   folder + ": " + std::strerror(errno) +
                                                   ". Create it, or choose another one.");
  }
  const auto magic = static_cast<std::uint32_t>(found.f_type);
  if (is_local_file_system(magic)) return;
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%X", magic);
  throw StorageError(StorageError::Kind::not_local,
                     "refused to open " + database_path + ": its file system (type " + text.data() +
                         ") is not known to be a local disk, and SQLite's write-ahead log loses "
                         "data on network file systems. Put the database on a local disk; the "
                         "logs may stay where they are.");
}

}  // namespace llmb::storage
