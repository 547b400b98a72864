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

std::string no_age(const std::string& text, const char* what_a_day_means) {
  return fmt::format(
      "'{}' is no age: say so many days, weeks or years (400d, 8w, 2y), or the day {}", text,
      what_a_day_means);
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
          no_age(filters.older_than, "before which a log has to have grown last (2025-01-31)"));
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

parser::Result<storage::UndoFilter> undo_filter_of(const RetentionFilters& filters,
                                                   const std::string& removed_since,
                                                   parser::Instant now) {
  if (filters.gone) {
    return parser::fail(
        "--gone does not go with --undo: whether its log is there is not kept of what was removed, "
        "and a log that is gone does not come back");
  }
  if (filters.log_text) {
    return parser::fail(
        "--log-text does not go with --undo: that a text was removed is not kept, and its agent "
        "does not send it again");
  }
  storage::UndoFilter filter;
  if (!filters.older_than.empty()) {
    const auto before = instant_of(filters.older_than, now);
    if (!before) {
      return parser::fail(no_age(filters.older_than, "before which a log was launched"));
    }
    filter.launched_before = parser::instant_text(*before);
  }
  if (!removed_since.empty()) {
    const auto since = instant_of(removed_since, now);
    if (!since) return parser::fail(no_age(removed_since, "from which on it was removed"));
    filter.removed_since = parser::instant_text(*since);
  }
  if (!filters.cluster.empty()) filter.cluster = filters.cluster;
  if (!filters.root.empty()) filter.root = filters.root;
  if (!filter.launched_before && !filter.removed_since && !filter.cluster && !filter.root) {
    return parser::fail(
        "it is not said which removed logs are to be let in again: give a day since which they "
        "were removed, a cluster, a root, or an age");
  }
  return filter;
}

}  // namespace llmb::cli
