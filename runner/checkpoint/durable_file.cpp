#include "runner/checkpoint/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace llmb::runner {
namespace {

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& path) {
  throw CheckpointError("could not " + what + " " + path.string() + ": " + std::strerror(errno));
}

class File {
 public:
  File(const std::filesystem::path& path, int flags, const char* what)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail(what, path);
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void write_all(int descriptor, std::span<const std::byte> bytes,
               const std::filesystem::path& path) {
  constexpr std::size_t kOnceMax = std::size_t{1} << 30U;  // Linux writes less than 2 GiB at once
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), std::min(bytes.size(), kOnceMax));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

void write_durably(const std::filesystem::path& path,
                   const std::vector<std::span<const std::byte>>& pieces) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC, "create");
  for (const std::span<const std::byte> piece : pieces) write_all(file.descriptor(), piece, path);
  if (fsync(file.descriptor()) != 0) fail("bring to the disk", path);
}

void sync_directory(const std::filesystem::path& directory) {
  const File file(directory, O_RDONLY | O_DIRECTORY, "open");
  // Some network filesystems know no fsync of a directory, and need none.
  if (fsync(file.descriptor()) != 0 && errno != EINVAL) fail("bring to the disk", directory);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) {
    throw CheckpointError("could not rename " + from.string() + " to " + to.string() + ": " +
                          error.message());
  }
  sync_directory(to.parent_path());
}

}  // namespace llmb::runner
