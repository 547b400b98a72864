// UnendedNumber: the number at the end of a last line that no newline ends. Whoever wrote the log,
// or copied it, may have been stopped within: "train_step_timing in s: 2" of 2.704, or 1.61 of
// 1.61e+03. It is taken for whole only where the lines before end with the like of it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "parser/dialects/state_text.h"

namespace llmb::parser {

class UnendedNumber {
 public:
  // Of a line that has its end, and of which a dialect may read a step.
  void see(std::string_view line);

  // `line`, which has no end, without the number that it ends with: with it only where one of the
  // last lines ends with a number of the same name and form, none with a longer one, and it has a
  // point, a comma, an exponent or a suffix. Digits alone may always go on.
  std::string_view whole_part(std::string_view line) const;

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // More than one line: of some programs trailing zeros are not printed, as in 2.7 beside 2.704.
  static constexpr std::size_t kLinesMax = 4;

  std::array<std::string, kLinesMax> endings_;  // a ring: name and form of the last numbers
  std::size_t next_ = 0;
};

}  // namespace llmb::parser
