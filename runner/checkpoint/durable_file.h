// Files that survive a crash: what these functions have returned from is on the disk, and a name
// is changed at once or not at all. Throws CheckpointError with the path and what the system said.
#pragma once

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmb::runner {

// A checkpoint could not be written or read; the message names the file.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Makes the file anew with the pieces one after the other, and waits until it is on the disk.
void write_durably(const std::filesystem::path& path,
                   const std::vector<std::span<const std::byte>>& pieces);

// Renames, and waits until the directory knows the new name. Files are replaced.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Waits until the names in a directory are on the disk.
void sync_directory(const std::filesystem::path& directory);

}  // namespace llmb::runner
