#include "server/unpacking/unpacked_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "server/unpacking/unpacker.h"

namespace llmb::unpacking {
namespace {

// Of a text that no folder takes.
constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{256} << 20U;

struct Place {
  parser::FileDescriptor file;
  std::uint64_t bytes_max = kTextBytesMax;
};

// Some file systems, as overlayfs before Linux 6.3, have no files that never had a name.
int open_without_a_name(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = folder + "/llmb-unpacked-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

Place find_place() {
  const char* const wanted = std::getenv("TMPDIR");
  for (const char* const folder : {wanted, "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    const int fd = open_without_a_name(folder);
    if (fd >= 0) return {parser::FileDescriptor(fd)};
  }
  return {parser::FileDescriptor(memfd_create("unpacked log", MFD_CLOEXEC)), kMemoryBytesMax};
}

parser::Result<void> append(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return parser::fail(
          fmt::format("there is no room to unpack it ({}); TMPDIR names another folder for that",
                      std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

parser::Result<Packing> packing_of_file(int fd) {
  std::array<char, kMagicBytes> head{};
  ssize_t got = 0;
  do {
    got = pread(fd, head.data(), head.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return parser::fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return packing_of({head.data(), static_cast<std::size_t>(got)});
}

parser::Result<UnpackedText> unpack_file(int fd, Packing packing,
                                         const std::function<bool()>& goes_on) {
  if (lseek(fd, 0, SEEK_SET) < 0) {
    return parser::fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  Place place = find_place();
  parser::FileDescriptor text = std::move(place.file);
  if (!text.is_open()) {
    return parser::fail(fmt::format("there is nowhere to unpack it: {}", std::strerror(errno)));
  }
  Unpacker unpacker(fd, packing);
  std::uint64_t size = 0;
  while (true) {
    const auto block = unpacker.next();
    const std::string flaw = block ? std::string() : unpacker.flaw();
    if (!block && flaw.empty()) return tl::unexpected(block.error());
    if (!block || block->empty()) return UnpackedText{std::move(text), flaw};
    size += block->size();
    if (size > place.bytes_max) {
      return parser::fail(
          place.bytes_max == kTextBytesMax
              ? fmt::format("its text is longer than {} GiB: unpack it yourself",
                            kTextBytesMax >> 30U)
              : fmt::format("its text is longer than {} MiB, and neither TMPDIR nor /tmp takes it: "
                            "let TMPDIR name a folder that does",
                            kMemoryBytesMax >> 20U));
    }
    if (auto appended = append(text.get(), *block); !appended) {
      return tl::unexpected(appended.error());
    }
    if (goes_on && !goes_on()) return parser::fail("stopped while it was unpacked");
  }
}

}  // namespace llmb::unpacking
