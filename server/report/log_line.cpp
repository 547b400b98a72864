#include "server/report/log_line.h"

#include <algorithm>

#include "parser/foundation/safe_text.h"
#include "parser/foundation/utf8.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

constexpr std::size_t kShownBytesMax = 4'096;

// Back to where a character of UTF-8 begins.
std::size_t whole_characters(std::string_view text, std::size_t length) {
  for (int i = 0; i < 3 && length > 0; ++i) {
    if (!parser::is_continuation_byte(text[length])) break;
    --length;
  }
  return length;
}

}  // namespace

LineSpan line_span_at(std::string_view bytes, std::size_t begin) {
  const std::size_t end = std::min(bytes.find_first_of("\r\n", begin), bytes.size());
  const bool is_pair = bytes.substr(end, 2) == "\r\n";
  const std::size_t next = std::min(end + (is_pair ? 2 : 1), bytes.size());
  return {begin, end, next, end < bytes.size()};
}

std::vector<LineSpan> line_spans(std::string_view bytes) {
  std::vector<LineSpan> spans;
  for (std::size_t at = 0; at < bytes.size(); at = spans.back().next) {
    spans.push_back(line_span_at(bytes, at));
  }
  return spans;
}

std::string text_without_colors(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t stop = std::min(text.find_first_of("\t\x1b"), text.size());
    shown += parser::safe_text(text.substr(0, stop));
    text.remove_prefix(stop);
    if (text.empty()) break;
    if (text.front() == '\t') {
      shown += '\t';
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find_first_not_of("0123456789;[", 1);
    const bool is_color = text.starts_with("\x1b[") && end != text.npos && text[end] == 'm';
    if (!is_color) shown += parser::safe_text(text.substr(0, 1));
    text.remove_prefix(is_color ? end + 1 : 1);
  }
  return shown;
}

LogLine shown_line(const LogBlock& block, const LineSpan& span, bool is_torn) {
  std::string_view text = span.text_in(block.bytes);
  LogLine line;
  line.offset = block.offset + span.begin;
  line.is_cut = is_torn || text.size() > kShownBytesMax;
  if (text.size() > kShownBytesMax) {
    text = text.substr(0, whole_characters(text, kShownBytesMax));
  }
  line.text = text_without_colors(text);
  return line;
}

Json log_lines_json(const std::vector<LogLine>& lines) {
  Json list = Json::array();
  for (const LogLine& line : lines) {
    list.push_back({{"offset", line.offset}, {"text", line.text}, {"is_cut", line.is_cut}});
  }
  return list;
}

}  // namespace llmb::report
