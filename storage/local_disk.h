// Whether a file stands on a disk of this machine. SQLite's write-ahead log needs memory that all
// its processes share, and locks that hold; network file systems promise neither.
#pragma once

#include <cstdint>
#include <string>

namespace llmb::storage {

// `magic`: f_type of statfs(2). An allow-list: what is not known counts as not local.
bool is_local_file_system(std::uint32_t magic);

// Throws StorageError not_local, or io when the folder of `database_path` cannot be looked at.
void require_local_disk(const std::string& database_path);

}  // namespace llmb::storage
