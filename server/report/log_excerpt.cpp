#include "server/report/log_excerpt.h"

#include <algorithm>

#include "parser/foundation/safe_text.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

constexpr std::size_t kShownBytesMax = 4'096;

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;   // without its end of line
  std::size_t next = 0;  // where the next line begins
  bool has_end = true;
};

std::vector<Span> spans_of(std::string_view bytes) {
  std::vector<Span> spans;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n", at), bytes.size());
    const bool is_pair = bytes.substr(end, 2) == "\r\n";
    const std::size_t next = std::min(end + (is_pair ? 2 : 1), bytes.size());
    spans.push_back({at, end, next, end < bytes.size()});
    at = next;
  }
  return spans;
}

// Without the colours that programs write for terminals; tabs stay.
std::string shown_text(std::string_view text) {
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

// Back to where a character of UTF-8 begins.
std::size_t whole_characters(std::string_view text, std::size_t length) {
  for (int i = 0; i < 3 && length > 0; ++i) {
    if ((static_cast<unsigned char>(text[length]) & 0xC0U) != 0x80U) break;
    --length;
  }
  return length;
}

}  // namespace

LogExcerpt cut_excerpt(const LogBlock& block, std::uint64_t offset, std::size_t before,
                       std::size_t after) {
  LogExcerpt excerpt;
  excerpt.next_offset = block.offset;
  std::vector<Span> spans = spans_of(block.bytes);
  if (spans.empty()) return excerpt;
  const auto holder = std::find_if(spans.begin(), spans.end(), [&](const Span& span) {
    return block.offset + span.next > offset;
  });
  const auto found =
      static_cast<std::size_t>(holder == spans.end() ? static_cast<std::ptrdiff_t>(spans.size()) - 1
                                                     : holder - spans.begin());
  // The block may begin in the middle of a line: that one is left out, unless it is the one.
  const std::size_t first_whole = block.offset > 0 ? 1 : 0;
  const std::size_t first =
      std::min(found, std::max(first_whole, found > before ? found - before : 0));
  std::size_t end = std::min(spans.size(), found + 1 + after);
  const bool last_is_torn = !spans.back().has_end && !block.reaches_end;
  if (end == spans.size() && last_is_torn && end > found + 1) --end;
  excerpt.at = found - first;
  for (std::size_t i = first; i < end; ++i) {
    const Span& span = spans[i];
    std::string_view text = block.bytes.substr(span.begin, span.end - span.begin);
    LogLine line;
    line.offset = block.offset + span.begin;
    line.is_cut = text.size() > kShownBytesMax || (i < first_whole) ||
                  (i + 1 == spans.size() && last_is_torn);
    if (text.size() > kShownBytesMax) {
      text = text.substr(0, whole_characters(text, kShownBytesMax));
    }
    line.text = shown_text(text);
    excerpt.lines.push_back(std::move(line));
    excerpt.next_offset = block.offset + span.next;
  }
  return excerpt;
}

Json log_excerpt_json(const LogExcerpt& excerpt) {
  Json lines = Json::array();
  for (const LogLine& line : excerpt.lines) {
    lines.push_back({{"offset", line.offset}, {"text", line.text}, {"is_cut", line.is_cut}});
  }
  return {{"lines", std::move(lines)}, {"at", excerpt.at}, {"next_offset", excerpt.next_offset}};
}

}  // namespace llmb::report
