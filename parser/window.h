// Window: the closed range of iterations that counts towards a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/log_facts.h"
#include "parser/result.h"

namespace llmb::parser {

struct Window {
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;

  bool contains(std::int64_t iteration) const {
    return first_iteration <= iteration && iteration <= last_iteration;
  }
  std::int64_t size() const { return last_iteration - first_iteration + 1; }
  bool operator==(const Window&) const = default;
};

// "11-44" or "7" (one iteration); numbers as the dialect counts. Error says what is allowed.
Result<Window> parse_window(std::string_view text);
std::string to_string(const Window& window);  // "11-44"

// A window as a user names it: a range of iterations, or the last step.
struct AskedWindow {
  std::optional<Window> range;  // nothing: the last step
};

// What parse_window() takes, or "last".
Result<AskedWindow> parse_asked_window(std::string_view text);

// The last step of the last segment that reached the declared last iteration; without one, of the
// last segment. Nothing where the log has no step.
std::optional<Window> last_step_window(const LogFacts& facts);

// `asked` in that log; where it has no step to be the last, the dialect's default.
Window resolve_window(const AskedWindow& asked, const LogFacts& facts);

// That of the table of dialects.
Window default_window(Dialect dialect);

}  // namespace llmb::parser
