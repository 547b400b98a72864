#include "server/cli/retention_filters.h"

#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "parser/foundation/parse_number.h"

namespace llmb::cli {
namespace {

constexpr std::int64_t kCountMax = 36'500;

std::optional<std::chrono::days> unit_of(char letter) {
  switch (letter) {
    case 'd':
      return std::chrono::days(1);
    case 'w':
      return std::chrono::days(7);
    case 'y':
      return std::chrono::days(365);
    default:
      return std::nullopt;
  }
}

// The instant that "400d" or "2025-01-31" means; nothing: it means none.
std::optional<parser::Instant> instant_of(const std::string& text, parser::Instant now) {
  if (text.size() < 2) return std::nullopt;
  if (const auto unit = unit_of(text.back())) {
    const auto count = parser::parse_integer(text.substr(0, text.size() - 1), 1, kCountMax);
    if (count) return now - *unit * *count;
    return std::nullopt;
  }
  const auto instant = parser::parse_instant(text);
  return instant ? instant : parser::parse_instant(text + "T00:00:00Z");
}

}  // namespace

parser::Result<storage::RetentionPolicy> policy_of(const RetentionFilters& filters,
                                                   parser::Instant now) {
  storage::RetentionPolicy policy;
  std::vector<std::string> words;
  if (!filters.older_than.empty()) {
    const auto before = instant_of(filters.older_than, now);
    if (!before) {
      return parser::fail(
          fmt::format("'{}' is no age: say so many days, weeks or years (400d, 8w, 2y), or the day "
                      "before which a log has to have grown last (2025-01-31)",
                      filters.older_than));
    }
    policy.grown_before = parser::instant_text(*before);
    words.push_back("older than " + filters.older_than);
  }
  if (!filters.cluster.empty()) {
    policy.cluster = filters.cluster;
    words.push_back("cluster " + filters.cluster);
  }
  if (!filters.root.empty()) {
    policy.root = filters.root;
    words.push_back("root " + filters.root);
  }
  if (filters.gone) words.emplace_back("gone");
  if (words.empty()) {
    return parser::fail(
        "it is not said which runs are to go: give an age, a cluster, a root, or that their logs "
        "are gone");
  }
  policy.only_gone = filters.gone;
  policy.only_log_text = filters.log_text;
  if (filters.log_text) words.emplace_back("log text");
  policy.words = fmt::format("{}", fmt::join(words, ", "));
  return policy;
}

}  // namespace llmb::cli
