#include "parser/statistics/run_copies.h"

#include <fmt/format.h>

namespace llmb::parser {

std::optional<std::size_t> RunCopies::count(std::string_view content_key, std::size_t run) {
  if (content_key.empty()) return std::nullopt;
  const auto [counted, is_new] = counted_.emplace(content_key, run);
  return is_new ? std::nullopt : std::optional(counted->second);
}

std::optional<std::size_t> RunCopies::counted_for(std::string_view content_key,
                                                  std::size_t run) const {
  const auto counted = counted_.find(content_key);
  if (counted == counted_.end() || counted->second == run) return std::nullopt;
  return counted->second;
}

std::string copy_reason(std::int64_t id) {
  return fmt::format("Its log has the same bytes as that of run {}: it is one run.", id);
}

}  // namespace llmb::parser
