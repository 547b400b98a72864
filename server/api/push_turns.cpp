#include "server/api/push_turns.h"

namespace llmb::api {
namespace {

constexpr std::size_t kAtOnce = 3;
// An agent's second request leaves room for another agent's first.
constexpr std::size_t kAtOnceWithASecond = 2;

}  // namespace

bool PushTurns::take(const std::string& agent) {
  const std::lock_guard lock(mutex_);
  const bool is_first = !of_agents_.contains(agent);
  if (count_ >= (is_first ? kAtOnce : kAtOnceWithASecond)) return false;
  ++of_agents_[agent];
  ++count_;
  return true;
}

void PushTurns::give_back(const std::string& agent) {
  const std::lock_guard lock(mutex_);
  --count_;
  if (--of_agents_.at(agent) == 0) of_agents_.erase(agent);
}

}  // namespace llmb::api
