#include "server/api/kept_changes.h"

namespace llmb::api {
namespace {

// A node of the map, its two vectors' memory and what the allocator adds to them, about.
constexpr std::size_t kBytesOfEach = 200;

}  // namespace

std::vector<std::size_t> KeptChanges::of(std::span<const double> values,
                                         const parser::SegmentationOptions& options) {
  Changes made;
  const auto entry =
      made.try_emplace({options.deviation_min, {values.begin(), values.end()}}).first;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = newer_.find(entry->first); known != newer_.end()) return known->second;
    if (const auto known = older_.find(entry->first); known != older_.end()) {
      std::vector<std::size_t> changes = known->second;
      keep(older_.extract(known));
      return changes;
    }
  }
  std::vector<std::size_t> changes = entry->second = find_(values, options);
  const std::lock_guard lock(mutex_);
  keep(made.extract(entry));
  return changes;
}

void KeptChanges::keep(Changes::node_type series) {
  const std::size_t bytes = kBytesOfEach + series.key().second.size() * sizeof(double);
  if (newer_bytes_ + bytes > kBytesMax / 2) {
    older_ = std::exchange(newer_, {});
    newer_bytes_ = 0;
  }
  if (newer_.insert(std::move(series)).inserted) newer_bytes_ += bytes;
}

}  // namespace llmb::api
