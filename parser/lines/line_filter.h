// LineFilter: bytes in, in any chunking; out come the complete lines that hold a literal, and
// where they begin. Lines that hold none are never copied, split or counted.
//
// '\n' and '\r' each end a line (a CRLF makes an empty second line, which holds no literal). A line
// longer than the limit is dropped and counted, whether or not it holds a literal, so at most one
// line of that length is held. Lines, offsets, lines_too_long(), committed_offset() and
// in_dropped_line() depend on the bytes fed so far, never on how they were cut.
//
// Not thread-safe. The scanner must outlive the filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "parser/lines/literal_scanner.h"

namespace llmb::parser {

struct Line {
  std::string_view bytes;     // without its delimiter; valid during the callback only
  std::uint64_t offset = 0;   // where it begins in the log
  std::size_t first_hit = 0;  // in bytes: no literal begins before
};

class LineFilter {
 public:
  static constexpr std::size_t kLineBytesMax = 1 << 20;

  // Goes on at `start_offset` of a log, which is a committed_offset() of an earlier filter (or 0);
  // `in_dropped_line` is what that filter said there. Throws std::invalid_argument when a literal
  // holds '\n' or '\r': no line could hold it.
  explicit LineFilter(const LiteralScanner& scanner, std::uint64_t start_offset = 0,
                      std::size_t line_bytes_max = kLineBytesMax, bool in_dropped_line = false);

  // Calls on_line(const Line&) for each line that became complete and holds a literal, in the
  // order of the log. Where on_line throws, the rest of `bytes` is lost: drop the filter.
  template <typename OnLine>
  void feed(std::string_view bytes, OnLine&& on_line) {
    feed(bytes, on_line, [](std::string_view) { return std::size_t{0}; });
  }

  // The same. Before and after each line, on_run(std::string_view) gets the complete lines from it
  // on, or those behind it, with their ends, as far as they are at hand, and returns how many bytes
  // of them, up to a line's end, it has done itself: where a log holds one hit after the other,
  // that spares looking for each.
  template <typename OnLine, typename OnRun>
  void feed(std::string_view bytes, OnLine&& on_line, OnRun&& on_run) {
    begin(bytes);
    Line line;
    while (next(line)) {
      const bool was_held = line.bytes.data() == finished_.data();
      const std::size_t done = on_run(was_held ? std::string_view(finished_) : complete_lines());
      if (!was_held) {
        if (done == 0) end_line(line);
        pass(done != 0 ? done : line.bytes.size() + 1);
      }
      if (done != 0) continue;
      on_line(static_cast<const Line&>(line));
      if (position_ < complete_lines_end_) pass(on_run(complete_lines()));
    }
  }

  // Whether the next lines are handed on whatever they hold: may be changed while on_line runs. The
  // first_hit of one that holds no literal is its length.
  void hand_on_every_line(bool every_line) { hands_on_every_line_ = every_line; }

  // The log is at its end: an unterminated last line counts. Moves no offset: if the log grows
  // after all, reading goes on at committed_offset(), with a new filter.
  template <typename OnLine>
  void finish(OnLine&& on_line) {
    Line line;
    if (take_unterminated(line)) on_line(static_cast<const Line&>(line));
  }

  // End (after the delimiter) of the last complete line: a filter that starts here hands on what
  // this one would. Within a dropped line, all that was fed so far is committed, so that a log
  // without newlines is not read again and again: then in_dropped_line() has to be kept with it.
  std::uint64_t committed_offset() const { return committed_offset_; }
  bool in_dropped_line() const { return in_dropped_line_; }

  std::uint64_t bytes_fed() const { return bytes_fed_; }  // by this filter: 0 after a restart
  // Dropped by this filter; each is counted at its first byte past the limit.
  std::int64_t lines_too_long() const { return lines_too_long_; }

 private:
  void begin(std::string_view bytes);
  std::string_view complete_lines() const {
    return block_.substr(position_, complete_lines_end_ - position_);
  }
  void pass(std::size_t bytes) {
    position_ += bytes;
    commit_to(position_);
  }
  bool next(Line& line);
  void end_line(Line& line);
  bool next_in_complete_lines(Line& line);
  bool next_from_held_line(Line& line);
  void pass_dropped_line();
  void find_complete_lines();
  void drop_line(std::size_t resume_at);
  void commit_to(std::size_t position) { committed_offset_ = block_offset_ + position; }
  bool take_unterminated(Line& line);
  bool take_finished(std::size_t bytes, std::uint64_t offset, Line& line);

  const LiteralScanner* scanner_;
  std::size_t line_bytes_max_;

  std::string_view block_;              // what feed() was given
  std::uint64_t block_offset_;          // where block_ begins in the log
  std::size_t position_ = 0;            // in block_: all before it is done
  std::size_t complete_lines_end_ = 0;  // in block_: up to here only complete lines remain

  std::string held_;      // the unterminated tail of earlier blocks; begins at committed_offset_
  std::string finished_;  // the last held line with its end, while it is handed on
  bool in_dropped_line_;
  bool hands_on_every_line_ = false;

  std::uint64_t committed_offset_;
  std::uint64_t bytes_fed_ = 0;
  std::int64_t lines_too_long_ = 0;
};

}  // namespace llmb::parser
