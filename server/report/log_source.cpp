#include "server/report/log_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "server/report/read_ahead.h"
#include "server/unpacking/unpacked_text.h"
#include "server/unpacking/unpacker.h"

namespace llmb::report {
namespace {

using parser::FileDescriptor;
using parser::Result;
using unpacking::Packing;

// A thread for less than this is not worth it.
constexpr std::uint64_t kReadAheadBytesMin = std::uint64_t{8} << 20U;

tl::unexpected<parser::Error> failed_call() {
  return parser::fail(std::strerror(errno));
}

const char* kind_name(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a folder";
  return "a device";
}

tl::unexpected<parser::Error> wrong_kind(mode_t mode) {
  return parser::fail(std::string("not a regular file but ") + kind_name(mode));
}

tl::unexpected<parser::Error> broke_off(std::uint64_t done, const std::string& why) {
  return parser::fail(fmt::format("reading broke off at byte {}: {}", done, why));
}

// O_NONBLOCK keeps a FIFO's open from waiting for a writer.
Result<FileDescriptor> open_any(const std::string& path, bool may_be_link, struct stat& status) {
  const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (may_be_link ? 0 : O_NOFOLLOW);
  FileDescriptor file(open(path.c_str(), flags));
  if (!file.is_open() || fstat(file.get(), &status) != 0) return failed_call();
  return file;
}

Result<FileDescriptor> open_stdin(struct stat& status) {
  if (isatty(STDIN_FILENO) != 0) {
    return parser::fail("stdin is a terminal: pipe a log into it, or redirect it from one");
  }
  FileDescriptor file(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!file.is_open() || fstat(file.get(), &status) != 0) return failed_call();
  return file;
}

// The same as read_blocks for a long file or a pipe, which is read and parsed at once.
Result<std::uint64_t> read_blocks_ahead(int file, std::uint64_t size, const LogSource::Take& take) {
  std::uint64_t done = 0;
  try {
    ReadAhead blocks(file, size);
    for (auto block = blocks.next(); !block.empty(); block = blocks.next()) {
      take(block);
      done += block.size();
    }
  } catch (const std::system_error& error) {
    return broke_off(done, std::strerror(error.code().value()));
  }
  return done;
}

}  // namespace

Result<FileDescriptor> open_regular(const std::string& path, bool may_be_link,
                                    std::uint64_t& size) {
  struct stat status {};
  auto file = open_any(path, may_be_link, status);
  if (!file) return file;
  if (!S_ISREG(status.st_mode)) return wrong_kind(status.st_mode);
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<std::uint64_t> read_blocks(int file, std::uint64_t size, std::vector<char>& buffer,
                                  const LogSource::Take& take) {
  std::uint64_t done = 0;
  while (done < size) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - done));
    const ssize_t got = ::read(file, buffer.data(), wanted);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return broke_off(done, std::strerror(errno));
    }
    take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    done += static_cast<std::uint64_t>(got);
  }
  return done;
}

Result<LogSource> LogSource::open(const LogFile& log) {
  LogSource source;
  struct stat status {};
  const bool is_stdin = log.path == kStdin && log.is_named;
  auto file = is_stdin ? open_stdin(status) : open_any(log.path, log.is_named, status);
  if (!file) return tl::unexpected(file.error());
  source.file_ = std::move(*file);
  source.is_pipe_ = S_ISFIFO(status.st_mode) && log.is_named;
  if (!source.is_pipe_ && !S_ISREG(status.st_mode)) return wrong_kind(status.st_mode);
  source.size_ = static_cast<std::uint64_t>(status.st_size);
  if (source.is_pipe_ && !is_stdin) {
    // From here on it is waited for: whoever writes into it is there, or its end is.
    const int flags = fcntl(source.file_.get(), F_GETFL);
    if (flags < 0 || fcntl(source.file_.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
      return failed_call();
    }
  }
  if (auto looked = source.look_at_head(); !looked) return tl::unexpected(looked.error());
  if (source.is_pipe_ && !is_stdin && source.head_.empty()) {
    return parser::fail("a FIFO that nobody writes into");
  }
  return source;
}

Result<void> LogSource::look_at_head() {
  if (!is_pipe_) {
    const auto packing = unpacking::packing_of_file(file_.get());
    if (!packing) return tl::unexpected(packing.error());
    packing_ = *packing;
    return {};
  }
  std::vector<char> buffer(unpacking::kMagicBytes);
  const auto append = [&](std::string_view bytes) { head_ += bytes; };
  if (auto got = read_blocks(file_.get(), unpacking::kMagicBytes, buffer, append); !got) {
    return tl::unexpected(got.error());
  }
  packing_ = unpacking::packing_of(head_);
  return {};
}

Result<std::uint64_t> LogSource::read(std::vector<char>& buffer, const Take& take) {
  if (packing_ != Packing::none) return read_unpacked(take);
  if (!is_pipe_) {
    return size_ < kReadAheadBytesMin ? read_blocks(file_.get(), size_, buffer, take)
                                      : read_blocks_ahead(file_.get(), size_, take);
  }
  take(head_);
  auto rest = read_blocks_ahead(file_.get(), UINT64_MAX, take);
  if (!rest) return rest;
  return *rest + head_.size();
}

Result<std::uint64_t> LogSource::read_unpacked(const Take& take) {
  unpacking::Unpacker unpacker(file_.get(), packing_, std::exchange(head_, {}));
  std::uint64_t done = 0;
  while (true) {
    const auto block = unpacker.next();
    if (!block) {
      flaw_ = unpacker.flaw();
      if (flaw_.empty()) return broke_off(done, block.error().message);
      return done;
    }
    if (block->empty()) return done;
    take(*block);
    done += block->size();
  }
}

Result<FileDescriptor> LogSource::text_again() && {
  if (is_pipe_ || packing_ == Packing::none) return std::move(file_);
  auto text = unpacking::unpack_file(file_.get(), packing_);
  if (!text) return tl::unexpected(text.error());
  return std::move(text->file);
}

}  // namespace llmb::report
