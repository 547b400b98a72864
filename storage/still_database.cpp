#include "storage/still_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

namespace llmb::storage {
namespace {

bool may_write(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

std::optional<FileState> state_of_file(const char* path) {
  struct stat found {};
  if (stat(path, &found) != 0) return std::nullopt;
  return FileState{.device = found.st_dev,
                   .inode = found.st_ino,
                   .size_bytes = found.st_size,
                   .changed_at_s = found.st_mtim.tv_sec,
                   .changed_at_ns = found.st_mtim.tv_nsec};
}

std::optional<FileState> still_state(const std::string& path) {
  if (state_of_file((path + "-wal").c_str())) return std::nullopt;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (may_write(path) && may_write(folder)) return std::nullopt;
  return state_of_file(path.c_str());
}

std::string still_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char letter : path) {
    if (std::string_view("%?#").find(letter) == std::string_view::npos) {
      uri += letter;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return uri + "?immutable=1";
}

}  // namespace llmb::storage
