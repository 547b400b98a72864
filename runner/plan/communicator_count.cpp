#include "runner/plan/communicator_count.h"

#include <set>
#include <utility>
#include <vector>

#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

int communicator_count(const RunSettings& settings, int stage) {
  if (settings.backend != Backend::cuda || settings.rank_slice) return 0;
  const auto layout = Layout::make(settings.sizes, settings.sizes.world());
  if (!layout) return 0;
  const int rank = layout->rank_of(0, 0, 0, stage);
  std::set<std::vector<int>> lists;
  for (const GroupOfARank& one : kGroupsOfARank) {
    std::vector<int> ranks = layout->group(one.kind, rank);
    if (ranks.size() > 1) lists.insert(std::move(ranks));
  }
  constexpr int kDirections = 2;
  return static_cast<int>(lists.size()) + (settings.sizes.pp > 1 ? kDirections : 0);
}

}  // namespace llmb::runner
