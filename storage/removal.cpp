#include "storage/removal.h"

namespace llmb::storage {
namespace {

// What one transaction removes, unless a single log is more.
constexpr std::size_t kLogsMax = 256;
constexpr std::int64_t kWeightMax = 20'000;

}  // namespace

Removal::Removal(const RemovalPlan& plan) {
  std::size_t begin = 0;
  std::int64_t weight = 0;
  for (const RemovalPlan::Log& log : plan.logs) {
    const std::size_t logs = runs_.size() - begin;
    if (logs == kLogsMax || (logs > 0 && weight + log.weight > kWeightMax)) {
      begin = runs_.size();
      ends_.push_back(begin);
      weight = 0;
    }
    runs_.push_back(log.run);
    weight += log.weight;
  }
  if (begin < runs_.size()) ends_.push_back(runs_.size());
}

std::span<const RunId> Removal::next() {
  if (taken_ == ends_.size()) return {};
  const std::size_t begin = taken_ == 0 ? 0 : ends_[taken_ - 1];
  const std::size_t end = ends_[taken_++];
  return std::span<const RunId>(runs_).subspan(begin, end - begin);
}

}  // namespace llmb::storage
