// ReadAhead: the bytes of an open file, block by block. What the kernel has at hand already, and
// whatever a pipe holds, is read when it is asked for; from the first bytes on that have to be
// waited for, a thread of its own reads the next ones. What reads from a network file system, and
// works on the bytes, then takes the time of the slower of the two instead of their sum.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace llmb::report {

class ReadAhead {
 public:
  // Up to `bytes_max` bytes from where `fd` stands, which outlives it.
  ReadAhead(int fd, std::uint64_t bytes_max);
  // Waits for the read that is under way.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What has been read since the last call, which stands until the next one; waits where that is
  // nothing yet. Empty at the end. Throws std::system_error where reading broke off, after all
  // bytes before that.
  std::string_view next();

 private:
  // Without waiting for a file system; nothing where that cannot be.
  std::optional<std::string_view> read_at_hand();
  void run();
  // Where the next read may write; empty when all is read or it is time to stop.
  std::span<char> wait_for_room();

  const int fd_;
  const bool is_pipe_;
  const std::uint64_t bytes_max_;
  // A ring. Bytes [given_back_, read_) are in it, counted from the start of the file; of those the
  // first given_out_ are the caller's.
  // Begins at a page's beginning: the kernel copies faster there.
  std::vector<char> room_;
  std::span<char> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_ = 0;
  std::uint64_t given_back_ = 0;
  std::size_t given_out_ = 0;
  bool has_ended_ = false;
  bool is_stopping_ = false;
  int error_ = 0;
  std::thread thread_;  // once something had to be waited for
};

}  // namespace llmb::report
