#include "server/report/read_ahead.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace llmb::report {
namespace {
// Read at once where the kernel has them: a call costs as much as the copy of some KiB. Else half
// for the caller and half for the thread, each of which a core keeps in its own cache.
constexpr std::size_t kRingBytes = std::size_t{1} << 20U;
constexpr std::size_t kPageBytes = 4096;
constexpr int kPipeBytes = 256 << 10U;

std::span<char> pages_of(std::vector<char>& room) {
  const auto begin = reinterpret_cast<std::uintptr_t>(room.data());
  return std::span(room).subspan((kPageBytes - begin % kPageBytes) % kPageBytes, kRingBytes);
}

bool is_pipe(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// Who writes has to be waited for less often. Where this user may not, it stays as it is.
void widen_pipe(int fd) {
  if (fcntl(fd, F_GETPIPE_SZ) < kPipeBytes) fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
}
}  // namespace

ReadAhead::ReadAhead(int fd, std::uint64_t bytes_max)
    : fd_(fd),
      is_pipe_(is_pipe(fd)),
      bytes_max_(bytes_max),
      room_(kRingBytes + kPageBytes),
      ring_(pages_of(room_)) {
  if (is_pipe_) widen_pipe(fd_);
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<std::string_view> ReadAhead::read_at_hand() {
  iovec room = {ring_.data(), std::min<std::uint64_t>(kRingBytes, bytes_max_ - read_)};
  ssize_t got = 0;
  do {
    // Who writes into a pipe is another process, which goes on meanwhile.
    got = is_pipe_ ? readv(fd_, &room, 1) : preadv2(fd_, &room, 1, -1, RWF_NOWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return std::nullopt;
  read_ += static_cast<std::uint64_t>(got);
  given_back_ = read_;
  return std::string_view(ring_.data(), static_cast<std::size_t>(got));
}

std::string_view ReadAhead::next() {
  if (!thread_.joinable()) {
    if (const auto block = read_at_hand()) return *block;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock lock(mutex_);
  given_back_ += given_out_;
  given_out_ = 0;
  changed_.notify_all();
  changed_.wait(lock, [this] { return read_ > given_back_ || has_ended_; });
  if (read_ == given_back_ && error_ != 0) {
    throw std::system_error(error_, std::generic_category());
  }
  const std::size_t begin = given_back_ % kRingBytes;
  const auto there = static_cast<std::size_t>(read_ - given_back_);
  given_out_ = std::min({there, kRingBytes - begin, kRingBytes / 2});
  return {ring_.data() + begin, given_out_};
}

std::span<char> ReadAhead::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return read_ - given_back_ < kRingBytes || is_stopping_; });
  if (is_stopping_) return {};
  const std::size_t begin = read_ % kRingBytes;
  const auto taken = static_cast<std::size_t>(read_ - given_back_);
  const std::uint64_t room = std::min(kRingBytes - taken, kRingBytes - begin);
  return ring_.subspan(begin, std::min(room, bytes_max_ - read_));
}

void ReadAhead::run() {
  for (;;) {
    const std::span<char> room = wait_for_room();
    ssize_t got = 0;
    do {
      got = room.empty() ? 0 : read(fd_, room.data(), room.size());
    } while (got < 0 && errno == EINTR);
    const int error = got < 0 ? errno : 0;
    {
      const std::lock_guard lock(mutex_);
      if (got > 0) read_ += static_cast<std::uint64_t>(got);
      has_ended_ = got <= 0;
      error_ = error;
    }
    changed_.notify_all();
    if (got <= 0) return;
  }
}

}  // namespace llmb::report
