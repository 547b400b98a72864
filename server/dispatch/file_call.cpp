#include "server/dispatch/file_call.h"

#include <map>
#include <mutex>

namespace llmb::dispatch {
namespace {

constexpr int kHangingMax = 4;

struct HangingCalls {
  std::mutex mutex;
  std::map<std::string, int> of_tree;  // none is 0
};

// Never destroyed: threads that were left behind may yet come back.
HangingCalls& hanging_calls() {
  static auto* const calls = new HangingCalls;
  return *calls;
}

}  // namespace

bool FileCall::too_many_hang(const std::string& tree) {
  HangingCalls& calls = hanging_calls();
  const std::lock_guard lock(calls.mutex);
  const auto hanging = calls.of_tree.find(tree);
  return hanging != calls.of_tree.end() && hanging->second >= kHangingMax;
}

void FileCall::give_up() {
  HangingCalls& calls = hanging_calls();
  const std::lock_guard lock(calls.mutex);
  if (has_ended_) return;
  ++calls.of_tree[tree_];
  is_counted_ = true;
}

void FileCall::end() {
  HangingCalls& calls = hanging_calls();
  const std::lock_guard lock(calls.mutex);
  has_ended_ = true;
  if (is_counted_ && --calls.of_tree[tree_] == 0) calls.of_tree.erase(tree_);
}

}  // namespace llmb::dispatch
