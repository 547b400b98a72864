#include "server/dispatch/file_call.h"

namespace llmb::dispatch {
namespace {

constexpr int kHangingMax = 4;

std::atomic<int> hanging = 0;

}  // namespace

bool FileCall::too_many_hang() {
  return hanging >= kHangingMax;
}

void FileCall::give_up() {
  ++hanging;
  if (is_settled_.exchange(true)) --hanging;
}

void FileCall::end() {
  if (is_settled_.exchange(true)) --hanging;
}

}  // namespace llmb::dispatch
