// Aftermath: what a log tells behind a failure, for as many lines as it reaches: that what counts
// goes on, or that somebody says that all ended well. Only there are lines read whatever they hold,
// so it costs a log without failures nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/dialects/counting_line.h"
#include "parser/dialects/state_text.h"
#include "parser/log_facts.h"

namespace llmb::parser {

class Aftermath {
 public:
  // `went_on_well`: that all ended well, where what counts had gone on before.
  enum class Sign { none, goes_on, ended_well, went_on_well };

  // Whether the next line is to be read, whatever it holds.
  bool wants_every_line() const { return lines_left_ > 0; }

  // A failure was kept: what follows it is looked at from here on. `end_from_outside`: by which a
  // scheduler or a user ended the attempt, null where nobody did; until the last rank is ended,
  // too, ranks count.
  void begin(const LogEvent* end_from_outside);
  // Steps tell what follows.
  void end() { *this = {}; }

  // Whether somebody ended the attempt from outside, and what counts went on for a while, though
  // not for long.
  bool counts_behind_an_end() const;

  // A line that is no failure. `text`: without what stands before it. Any sign ends the aftermath.
  // `may_count`: whether what counts is a sign.
  Sign read(std::string_view text, bool may_count);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Who counts besides (evaluation, data) has a shape of its own.
  static constexpr std::size_t kShapesMax = 8;

  struct Counted {
    CountingLine line;
    // Since the line of the shape before it. Nothing has risen before there are two.
    CountingLine::Numbers rises{};
    int rises_in_a_row = 0;
  };

  // How often the count of the line's shape has risen, each time from the line before.
  int rises_of(const CountingLine& line);

  int lines_left_ = 0;
  int rises_wanted_ = 0;          // in a row, for what counts to go on
  int rises_max_ = 0;             // of all shapes
  std::uint64_t end_offset_ = 0;  // of the end from outside
  std::vector<Counted> counted_;  // one of each shape, the newest last
};

}  // namespace llmb::parser
