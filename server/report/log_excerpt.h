// LogExcerpt: some lines of a log around a byte, cut out of a block of its bytes. Both \n and \r
// end a line, as for the readers of logs. Foreign bytes are made safe; a line that is longer than
// what is shown is cut. Opens no file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/json_fwd.h"

namespace llmb::report {

struct LogLine {
  std::uint64_t offset = 0;  // of its first byte in the file
  std::string text;          // without its end
  bool is_cut = false;       // it goes on, before or after what is shown
  bool operator==(const LogLine&) const = default;
};

struct LogBlock {
  std::string_view bytes;
  std::uint64_t offset = 0;  // of the first of them in the file
  bool reaches_end = false;  // nothing follows them in the file
};

struct LogExcerpt {
  std::vector<LogLine> lines;
  std::size_t at = 0;             // which of them holds the byte; the last where none does
  std::uint64_t next_offset = 0;  // where the line after them begins
};

// The line that holds the byte at `offset` of the file, and up to so many lines before and after.
LogExcerpt cut_excerpt(const LogBlock& block, std::uint64_t offset, std::size_t before,
                       std::size_t after);

Json log_excerpt_json(const LogExcerpt& excerpt);

}  // namespace llmb::report
