#include "parser/statistics/run_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmb::parser {

std::optional<std::size_t> RunCopies::find(const ContentKey& key) const {
  const auto by_bytes = by_bytes_.find(key.by_bytes);
  if (by_bytes != by_bytes_.end()) return by_bytes->second;
  const auto by_times = by_times_.find(key.by_times);
  return by_times == by_times_.end() ? std::nullopt : std::optional(by_times->second);
}

std::optional<std::size_t> RunCopies::count(const ContentKey& key, std::size_t run) {
  const auto original = find(key);
  // What a copy is known by, too, may be all that another one is known by.
  if (!key.by_bytes.empty()) by_bytes_.emplace(key.by_bytes, original.value_or(run));
  if (!key.by_times.empty()) by_times_.emplace(key.by_times, original.value_or(run));
  return original;
}

std::optional<std::size_t> RunCopies::counted_for(const ContentKey& key, std::size_t run) const {
  const auto original = find(key);
  return original == run ? std::nullopt : original;
}

std::vector<std::size_t> counting_order(std::span<const std::size_t> stated_counts) {
  std::vector<std::size_t> order(stated_counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stated_counts[a] > stated_counts[b];
  });
  return order;
}

std::string copy_reason(std::int64_t id) {
  return fmt::format("Its log has the same bytes as that of run {}: it is one run.", id);
}

}  // namespace llmb::parser
