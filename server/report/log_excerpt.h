// LogExcerpt: some lines of a log around a byte, cut out of a block of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/report/json_fwd.h"
#include "server/report/log_line.h"

namespace llmb::report {

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
