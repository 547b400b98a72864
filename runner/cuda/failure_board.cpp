#include "runner/cuda/failure_board.h"

#include <mutex>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

struct Board {
  std::mutex mutex;
  std::string group;
  std::string reason;
};
Board& board() {
  static Board one;
  return one;
}

}  // namespace

void post_failure(const std::string& group, const std::string& reason) {
  Board& one = board();
  const std::lock_guard lock(one.mutex);
  if (!one.reason.empty()) return;
  one.group = group;
  one.reason = reason;
}

void clear_failure() {
  Board& one = board();
  const std::lock_guard lock(one.mutex);
  one.group.clear();
  one.reason.clear();
}

void throw_posted_failure() {
  Board& one = board();
  const std::lock_guard lock(one.mutex);
  if (one.reason.empty()) return;
  throw CommunicatorFailed(one.group, one.reason);
}

}  // namespace llmb::runner::cuda
