#include "parser/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"

namespace llmb::parser {

Result<Window> parse_window(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_digits(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_digits(text.substr(dash + 1));
  // parse_digits() has no more than 18 of them.
  const auto is_too_large = [](std::string_view end) {
    return end.size() > 18 && std::all_of(end.begin(), end.end(), is_digit);
  };
  if (is_too_large(text.substr(0, dash)) ||
      (dash != std::string_view::npos && is_too_large(text.substr(dash + 1)))) {
    return fail(std::string("'").append(text).append(
        "' is too large for a window, whose iterations have at most 18 digits: write FIRST-LAST, "
        "such as 11-44, or one iteration, such as 7"));
  }
  if (!first || !last || *first > *last) {
    return fail(std::string("'").append(text).append(
        "' is not a window: write FIRST-LAST with FIRST not above LAST, such as 11-44, or one "
        "iteration, such as 7"));
  }
  return Window{*first, *last};
}

Result<AskedWindow> parse_asked_window(std::string_view text) {
  if (text == "last") return AskedWindow{};
  const auto range = parse_window(text);
  if (!range) return fail(range.error().message + ", or last for the last step");
  return AskedWindow{*range};
}

std::optional<Window> last_step_window(const LogFacts& facts) {
  if (facts.segments.empty()) return std::nullopt;
  const auto& segments = facts.segments;
  std::int64_t last = segments.back().last_iteration;
  if (facts.declared_last_iteration) {
    const auto whole = std::find_if(segments.rbegin(), segments.rend(), [&](const auto& segment) {
      return segment.last_iteration >= *facts.declared_last_iteration;
    });
    if (whole != segments.rend()) last = whole->last_iteration;
  }
  return Window{last, last};
}

Window resolve_window(const AskedWindow& asked, const LogFacts& facts) {
  if (asked.range) return *asked.range;
  return last_step_window(facts).value_or(default_window(facts.dialect));
}

std::string to_string(const Window& window) {
  return fmt::format("{}-{}", window.first_iteration, window.last_iteration);
}

Window default_window(Dialect dialect) {
  const DialectTraits& traits = traits_of(dialect);
  return {traits.window_first, traits.window_last};
}

}  // namespace llmb::parser
