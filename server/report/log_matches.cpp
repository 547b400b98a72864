#include "server/report/log_matches.h"

#include <string>
#include <string_view>

#include "server/report/json.h"

namespace llmb::report {
namespace {

constexpr std::size_t kLinesAtOnce = 256;  // between two questions whether it goes on

class Finder {
 public:
  Finder(const LinePattern& pattern, const LogSearch& search)
      : pattern_(pattern), search_(search), next_(search.from) {}

  LogMatches find(const LogBytes& bytes) {
    for (bool is_first = true; is_first || search_.goes_on(); is_first = false) {
      const LogBlock block = bytes(next_);
      found_.has_gaps |= block.offset > next_;
      next_ = block.offset;
      if (!look_through(block)) break;
      if (!block.reaches_end) continue;
      return std::move(found_);
    }
    found_.next_offset = next_;
    return std::move(found_);
  }

 private:
  // False: something is left of it.
  bool look_through(const LogBlock& block) {
    std::size_t looked_at = 0;
    for (std::size_t at = 0; at < block.bytes.size();) {
      const LineSpan span = line_span_at(block.bytes, at);
      const bool is_torn = !span.has_end && !block.reaches_end;
      if (is_torn && at > 0) break;  // the next block begins with it
      if (holds(span.text_in(block.bytes))) {
        found_.lines.push_back(shown_line(block, span, is_torn));
      }
      at = span.next;
      next_ = block.offset + at;
      const bool is_last = block.reaches_end && at == block.bytes.size();
      if (found_.lines.size() == search_.lines_max && !is_last) return false;
      if (++looked_at % kLinesAtOnce == 0 && !is_last && !search_.goes_on()) return false;
    }
    return true;
  }

  bool holds(std::string_view line) const {
    if (line.find('\x1b') == std::string_view::npos) return pattern_.is_in(line);
    return pattern_.is_in(text_without_colors(line));
  }

  const LinePattern& pattern_;
  const LogSearch& search_;
  LogMatches found_;
  std::uint64_t next_;
};

}  // namespace

LogMatches find_lines(const LinePattern& pattern, const LogSearch& search, const LogBytes& bytes) {
  return Finder(pattern, search).find(bytes);
}

Json log_matches_json(const LogMatches& matches) {
  return {{"lines", log_lines_json(matches.lines)},
          {"next_offset", matches.next_offset ? Json(*matches.next_offset) : Json(nullptr)},
          {"has_gaps", matches.has_gaps}};
}

}  // namespace llmb::report
