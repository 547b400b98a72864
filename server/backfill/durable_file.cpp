#include "server/backfill/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "parser/foundation/file_descriptor.h"
#include "server/push/machine_name.h"

namespace llmb::backfill {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is on the disk once its folder is. Some file systems sync no folder: they need not.
void sync_folder(const std::string& folder) {
  const parser::FileDescriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.is_open()) fsync(fd.get());
}

}  // namespace

parser::Result<void> write_durably(const std::string& file, const std::string& text) {
  const std::string part = fmt::format("{}.{}.{}.part", file, push::machine_name(), getpid());
  const auto failure = [&] {
    const int error = errno;
    unlink(part.c_str());
    return parser::fail(fmt::format("cannot write {}: {}", file, std::strerror(error)));
  };
  {
    const parser::FileDescriptor fd(
        open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!fd.is_open() || !write_all(fd.get(), text) || fsync(fd.get()) != 0) return failure();
  }
  if (std::rename(part.c_str(), file.c_str()) != 0) return failure();
  sync_folder(std::filesystem::path(file).parent_path().string());
  return {};
}

parser::Result<std::optional<std::string>> read_whole(const std::string& file) {
  const parser::FileDescriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open() && errno == ENOENT) return std::optional<std::string>();
  std::string text;
  ssize_t length = fd.is_open() ? 1 : -1;
  while (length > 0) {
    const std::size_t before = text.size();
    text.resize(before + kPieceBytes);
    length = read(fd.get(), text.data() + before, kPieceBytes);
    text.resize(before + static_cast<std::size_t>(length > 0 ? length : 0));
  }
  if (length == 0) return std::optional(std::move(text));
  return parser::fail(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

}  // namespace llmb::backfill
