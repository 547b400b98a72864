// LogSource: the text of one log, block by block, wherever it comes from: a file, a compressed
// file, or a pipe with either.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"
#include "server/report/log_discovery.h"
#include "server/unpacking/packing.h"

namespace llmb::report {

// Regular files only; never blocks on a FIFO. `size`: what there is of it now.
parser::Result<parser::FileDescriptor> open_regular(const std::string& path, bool may_be_link,
                                                    std::uint64_t& size);

class LogSource {
 public:
  using Take = std::function<void(std::string_view)>;

  // A file or, where the user named it, a pipe. Fails where there is no such thing, and where
  // nobody writes into a FIFO.
  static parser::Result<LogSource> open(const LogFile& log);

  // Calls `take` with each block until the end; gives the bytes of all. Of a file it reads at most
  // what was there when it was opened: a log that grows faster than it is read still ends. Once.
  parser::Result<std::uint64_t> read(std::vector<char>& buffer, const Take& take);

  // Of a compressed log that was read up to where it ends in the middle, or is damaged: how that is
  // told. Empty: it was read whole.
  const std::string& flaw() const { return flaw_; }

  // Of a log that was read: its text as a file, to look at parts of it again. Of a pipe there is
  // none left: what comes back cannot be read at offsets.
  parser::Result<parser::FileDescriptor> text_again() &&;

 private:
  LogSource() = default;
  parser::Result<void> look_at_head();
  parser::Result<std::uint64_t> read_unpacked(const Take& take);

  parser::FileDescriptor file_;
  std::uint64_t size_ = 0;  // of a file
  bool is_pipe_ = false;
  std::string head_;  // of a pipe: what was read of it to tell what it holds
  unpacking::Packing packing_ = unpacking::Packing::none;
  std::string flaw_;
};

// `size` bytes at most. Fails where reading breaks off.
parser::Result<std::uint64_t> read_blocks(int file, std::uint64_t size, std::vector<char>& buffer,
                                          const LogSource::Take& take);

}  // namespace llmb::report
