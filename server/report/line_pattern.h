// LinePattern: what lines of a log are looked for by: a text, in any case, or a regular expression.
// Takes time that is linear in the line's length, whatever the expression.
#pragma once

#include <memory>
#include <string_view>

#include "parser/result.h"

namespace re2 {
class RE2;
}

namespace llmb::report {

class LinePattern {
 public:
  static LinePattern of_text(std::string_view text);
  // In the syntax of RE2; fails with what is wrong with it.
  static parser::Result<LinePattern> of_expression(std::string_view expression);

  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  bool is_in(std::string_view line) const;

 private:
  explicit LinePattern(std::unique_ptr<const re2::RE2> expression);

  std::unique_ptr<const re2::RE2> expression_;
};

}  // namespace llmb::report
