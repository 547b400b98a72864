#include "runner/simt/shared.h"

#include <fmt/format.h>

namespace llmb::runner::simt {
namespace {

const char* name_of(Access access) {
  switch (access) {
    case Access::read:
      return "reads";
    case Access::write:
      return "writes";
    case Access::atomic:
      return "updates atomically";
  }
  return "";
}

}  // namespace

// A barrier of the block lies between, or one of the warp that both are in.
bool WordHistory::is_ordered(const Event& before, const Clock& now) {
  const Clock& then = before.clock;
  return then.lane == now.lane || then.block_barriers < now.block_barriers ||
         (then.lane / kWarpSize == now.lane / kWarpSize && then.warp_barriers < now.warp_barriers);
}

void WordHistory::report(const Event& before, const Clock& now, Access access, const char* name,
                         std::int64_t index) const {
  BlockRunner::of_this_thread().fault(
      fmt::format("race: lane {} {} word {} {}, which lane {} {} with no barrier between", now.lane,
                  name_of(access), index, name, before.clock.lane, name_of(before.access)));
}

void WordHistory::note(Access access, const char* name, std::int64_t index) {
  const BlockRunner& runner = BlockRunner::of_this_thread();
  const Clock now = runner.clock();
  if (block_serial_ != runner.block_serial()) *this = WordHistory();
  block_serial_ = runner.block_serial();
  if (!is_written_ && access != Access::write) {
    runner.fault(fmt::format("lane {} {} word {} {}, which nobody wrote", now.lane, name_of(access),
                             index, name));
  }
  const bool both_atomic = access == Access::atomic && write_.access == Access::atomic;
  if (is_written_ && !both_atomic && !is_ordered(write_, now)) {
    report(write_, now, access, name, index);
  }
  if (access == Access::read) {
    // The newest of this lane's, and one of another lane's.
    if (reads_[0].clock.lane != now.lane) reads_[1] = reads_[0];
    reads_[0] = {now, access};
    return;
  }
  for (const Event& read : reads_) {
    if (read.clock.lane >= 0 && !is_ordered(read, now)) report(read, now, access, name, index);
  }
  is_written_ = true;
  write_ = {now, access};
  reads_[0] = reads_[1] = {};
}

WordHistory* dynamic_histories() {
  static thread_local std::vector<WordHistory> histories;
  const std::size_t bytes = BlockRunner::of_this_thread().dynamic_shared_bytes();
  if (histories.size() < bytes) histories.resize(bytes);
  return histories.data();
}

}  // namespace llmb::runner::simt
