#include "server/report/line_pattern.h"

#include <re2/re2.h>

#include <utility>

namespace llmb::report {
namespace {

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::unique_ptr<const RE2> compiled(re2::StringPiece expression, bool case_matters) {
  RE2::Options options;
  options.set_case_sensitive(case_matters);
  options.set_log_errors(false);
  return std::make_unique<const RE2>(expression, options);
}

}  // namespace

LinePattern LinePattern::of_text(std::string_view text) {
  return LinePattern(compiled(RE2::QuoteMeta(piece_of(text)), false));
}

parser::Result<LinePattern> LinePattern::of_expression(std::string_view expression) {
  auto ready = compiled(piece_of(expression), true);
  if (!ready->ok()) return parser::fail(ready->error());
  return LinePattern(std::move(ready));
}

LinePattern::LinePattern(std::unique_ptr<const RE2> expression)
    : expression_(std::move(expression)) {}
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

bool LinePattern::is_in(std::string_view line) const {
  return RE2::PartialMatch(piece_of(line), *expression_);
}

}  // namespace llmb::report
