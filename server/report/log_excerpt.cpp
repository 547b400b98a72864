#include "server/report/log_excerpt.h"

#include <algorithm>

#include "server/report/json.h"

namespace llmb::report {

LogExcerpt cut_excerpt(const LogBlock& block, std::uint64_t offset, std::size_t before,
                       std::size_t after) {
  LogExcerpt excerpt;
  excerpt.next_offset = block.offset;
  const std::vector<LineSpan> spans = line_spans(block.bytes);
  if (spans.empty()) return excerpt;
  const auto holder = std::find_if(spans.begin(), spans.end(), [&](const LineSpan& span) {
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
    const bool is_torn = i < first_whole || (i + 1 == spans.size() && last_is_torn);
    excerpt.lines.push_back(shown_line(block, spans[i], is_torn));
    excerpt.next_offset = block.offset + spans[i].next;
  }
  return excerpt;
}

Json log_excerpt_json(const LogExcerpt& excerpt) {
  return {{"lines", log_lines_json(excerpt.lines)},
          {"at", excerpt.at},
          {"next_offset", excerpt.next_offset}};
}

}  // namespace llmb::report
