// LogLine: a line of a log as it is shown. Both \n and \r end a line, as for the readers of logs.
// Foreign bytes are made safe; a line that is longer than what is shown is cut. Opens no file.
#pragma once

#include <cstddef>
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

// A line within a block.
struct LineSpan {
  std::size_t begin = 0;
  std::size_t end = 0;   // without its end of line
  std::size_t next = 0;  // where the next line begins
  bool has_end = true;

  std::string_view text_in(std::string_view bytes) const {
    return bytes.substr(begin, end - begin);
  }
};

// Of the line that begins at `begin`, which is less than the bytes' size.
LineSpan line_span_at(std::string_view bytes, std::size_t begin);
std::vector<LineSpan> line_spans(std::string_view bytes);

// Without the colours that programs write for terminals; tabs stay.
std::string text_without_colors(std::string_view text);

// `is_torn`: the block holds only a part of it.
LogLine shown_line(const LogBlock& block, const LineSpan& span, bool is_torn);

Json log_lines_json(const std::vector<LogLine>& lines);

}  // namespace llmb::report
