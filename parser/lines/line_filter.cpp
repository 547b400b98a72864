#include "parser/lines/line_filter.h"

#include <algorithm>
#include <stdexcept>

#include "parser/lines/delimiters.h"

namespace llmb::parser {

LineFilter::LineFilter(const LiteralScanner& scanner, std::uint64_t start_offset,
                       std::size_t line_bytes_max, bool in_dropped_line)
    : scanner_(&scanner),
      line_bytes_max_(line_bytes_max),
      block_offset_(start_offset),
      in_dropped_line_(in_dropped_line),
      committed_offset_(start_offset) {
  if (scanner.holds_line_end()) {
    throw std::invalid_argument("line filter: a literal holds a line's end, no line can hold it");
  }
}

void LineFilter::begin(std::string_view bytes) {
  block_offset_ += block_.size();
  block_ = bytes;
  bytes_fed_ += bytes.size();
  position_ = 0;
  complete_lines_end_ = 0;
}

// Advances until there is a line to hand on; false when the block is used up. Of one in complete
// lines, where position_ stands then, only the bytes before its first hit: end_line() adds the
// rest.
bool LineFilter::next(Line& line) {
  for (;;) {
    if (position_ < complete_lines_end_) {
      if (next_in_complete_lines(line)) return true;
    } else if (position_ == block_.size()) {
      return false;
    } else if (in_dropped_line_) {
      pass_dropped_line();
    } else if (!held_.empty()) {
      if (next_from_held_line(line)) return true;
    } else {
      find_complete_lines();
    }
  }
}

// The fast path: one scan over up to line_bytes_max_ bytes of complete lines, without a look at
// the delimiters of lines that hold no literal.
bool LineFilter::next_in_complete_lines(Line& line) {
  if (hands_on_every_line_) {
    line = {{}, block_offset_ + position_, 0};
    return true;
  }
  const auto hit = scanner_->find(block_.substr(0, complete_lines_end_), position_);
  if (!hit) {
    position_ = complete_lines_end_;
    commit_to(position_);
    return false;
  }
  const std::size_t before = last_delimiter(block_, position_, hit->position);
  if (before != kNoDelimiter) position_ = before + 1;
  const std::size_t first_hit = hit->position - position_;
  line = {block_.substr(position_, first_hit), block_offset_ + position_, first_hit};
  return true;
}

void LineFilter::end_line(Line& line) {
  const std::size_t end = first_delimiter(block_, position_ + line.first_hit, complete_lines_end_);
  line.bytes = block_.substr(position_, end - position_);
  if (hands_on_every_line_) {
    const auto hit = scanner_->find(line.bytes);
    line.first_hit = hit ? hit->position : line.bytes.size();
  }
}

// A line that began in an earlier block: ends here, goes on, or becomes too long.
bool LineFilter::next_from_held_line(Line& line) {
  const std::size_t room = line_bytes_max_ - held_.size();
  const std::size_t rest = block_.size() - position_;
  const std::size_t look_at = room < rest ? room + 1 : rest;
  const std::size_t end = first_delimiter(block_, position_, position_ + look_at);
  if (end != kNoDelimiter) {
    held_.append(block_.substr(position_, end + 1 - position_));
    finished_.swap(held_);
    held_.clear();
    const std::uint64_t offset = committed_offset_;
    position_ = end + 1;
    commit_to(position_);
    return take_finished(finished_.size() - 1, offset, line);
  }
  if (rest > room) {
    drop_line(position_ + look_at);
  } else {
    held_.append(block_.substr(position_));
    position_ = block_.size();
  }
  return false;
}

void LineFilter::pass_dropped_line() {
  const std::size_t end = first_delimiter(block_, position_, block_.size());
  in_dropped_line_ = end == kNoDelimiter;
  position_ = in_dropped_line_ ? block_.size() : end + 1;
  commit_to(position_);
}

// At the beginning of a line: how far do complete lines go? Looks back from the farthest place at
// which the line may end, so that lines within the limit need no walk from newline to newline.
void LineFilter::find_complete_lines() {
  const std::size_t rest = block_.size() - position_;
  const std::size_t look_at = line_bytes_max_ < rest ? line_bytes_max_ + 1 : rest;
  const std::size_t last = last_delimiter(block_, position_, position_ + look_at);
  if (last != kNoDelimiter) {
    complete_lines_end_ = last + 1;
  } else if (rest > line_bytes_max_) {
    drop_line(position_ + look_at);
  } else {
    held_.assign(block_.substr(position_));
    position_ = block_.size();
  }
}

void LineFilter::drop_line(std::size_t resume_at) {
  ++lines_too_long_;
  in_dropped_line_ = true;
  held_ = std::string();
  position_ = resume_at;
  commit_to(position_);
}

bool LineFilter::take_unterminated(Line& line) {
  finished_.swap(held_);
  held_.clear();
  return take_finished(finished_.size(), committed_offset_, line);
}

// Of finished_ the first bytes, which are a line; false where it is not handed on.
bool LineFilter::take_finished(std::size_t bytes, std::uint64_t offset, Line& line) {
  const std::string_view text = std::string_view(finished_).substr(0, bytes);
  const auto hit = scanner_->find(text);
  line = {text, offset, hit ? hit->position : text.size()};
  return hit.has_value() || hands_on_every_line_;
}

}  // namespace llmb::parser
