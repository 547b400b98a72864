// find_lines(): the lines of a log that a pattern is in, from a byte on. Opens no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "server/report/json_fwd.h"
#include "server/report/line_pattern.h"
#include "server/report/log_line.h"

namespace llmb::report {

struct LogMatches {
  std::vector<LogLine> lines;
  // Where the first line begins that was not looked at; nothing: the log was looked through to its
  // end.
  std::optional<std::uint64_t> next_offset;
  bool has_gaps = false;  // some of the text that was to be looked at is not there
};

// The bytes from `offset` on, as many as it likes. Where they are not there, a block that begins
// further on; it may be empty. They are valid until the next are asked for.
using LogBytes = std::function<LogBlock(std::uint64_t offset)>;

struct LogSearch {
  std::uint64_t from = 0;
  std::size_t lines_max = 0;
  std::function<bool()> goes_on;  // asked now and then; some lines are looked at in any case
};

LogMatches find_lines(const LinePattern& pattern, const LogSearch& search, const LogBytes& bytes);

Json log_matches_json(const LogMatches& matches);

}  // namespace llmb::report
